"""Just enough of C++'s grammar for tools/check_tidy.py: comments, strings and function bodies."""
import re

TOKEN = re.compile(
    r"""(?P<line_comment>//[^\n]*)
      | (?P<block_comment>/\*.*?\*/)
      | (?P<raw_string>\bR"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<number>\b\d[\w'.]*)  # takes the quotes of 1'000 before they look like a character
      | (?P<character>'(?:\\.|[^'\\\n])+')
    """, re.VERBOSE | re.DOTALL)


def without_comments_and_strings(text):
    """The same text with comments and literals blanked; every line keeps its number."""
    def blank(match):
        if match.lastgroup == "number":
            return match.group(0)
        quoted = match.lastgroup in ("string", "raw_string", "mark", "character")
        kept = re.sub(r"[^\n]", " ", match.group(0))
        return '""' + kept[2:] if quoted and "\n" not in match.group(0)[:2] else kept
    return TOKEN.sub(blank, text)


# Prose ends with a semicolon too, so a line must look like a statement from its start. Code shown
# as an example is indented by two blanks or more, or in a /// comment.
COMMENT_LINE = re.compile(r"^\s*//(?!/) ?(?! )(?P<text>.*?)\s*$")
STATEMENT = re.compile(
    r"""^(?:
        \#\s*(?:include|define|if|ifdef|ifndef|endif|else|pragma)\b.*
      | \}\s*(?:else\b.*)?;?
      | (?:if|for|while|switch)\s*\(.*\)\s*\{?
      | (?:else|do|try)\s*\{
      | return\b[^.]*;
      | (?:break|continue);
      | (?:const\s+|static\s+|constexpr\s+)*
        [\w:]+(?:<[\w:<>,\s*&]*>)?[\s*&]+\w+\s*(?:=[^=].*|\{.*\})?;
      | [\w:.>\[\]()-]+\s*[-+*/|&^%]?=\s.*;
      | [\w:.>-]+\([^`]*\);
      | [\w:<>,\s*&]+\([^`]*\)\s*(?:const\s*)?(?:override\s*)?\{
    )$""", re.VERBOSE)


def is_commented_out_code(line):
    match = COMMENT_LINE.match(line)
    return bool(match) and bool(STATEMENT.match(match.group("text")))


NOT_A_FUNCTION = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b")


def _opens_function(head):
    """Whether `head`, the code before a `{` outside functions, is a function's signature."""
    head = re.sub(r"\boperator\s*[^\s\w(]+", "operator", head)
    head = re.sub(r"\[\[.*?\]\]", "", head)
    if "(" not in head:
        return False
    outside, depth = [], 0
    for character in head:
        depth -= character in ")"
        if depth == 0:
            outside.append(character)
        depth += character in "("
    plain = "".join(outside)
    return "=" not in re.sub(r"[<>!=]=|<=>", "", plain) and not NOT_A_FUNCTION.search(
        re.sub(r"<[^<>]*>", "", plain))


def functions(text):
    """(line of the opening brace, line of the closing brace, name) of every function body."""
    code = without_comments_and_strings(text)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)),
                  code, flags=re.MULTILINE)
    found, open_braces, head, line = [], [], "", 1
    for character in code:
        if character == "\n":
            line += 1
        inside = next((brace for brace in open_braces if brace), None)
        if character == "{":
            starts = None
            if inside is None and _opens_function(head):
                name = re.search(r"([\w:~]+)\s*\(", head)
                starts = (line, name.group(1) if name else "operator")
            open_braces.append(starts)
            head = ""
        elif character == "}":
            starts = open_braces.pop() if open_braces else None
            if starts:
                found.append((starts[0], line, starts[1]))
            head = ""
        elif character == ";" and inside is None:
            head = ""
        elif inside is None:
            head += character
    return found

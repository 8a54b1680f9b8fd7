"""What counts as a picture of ours, and the colours of pages in pictures."""

import json

import pytest

import gradexplain as gx
from gradexplain.errors import ArgumentError
from gradexplain.render.pictures.svg import is_ours, themed
from tests.render.pictures.programs import explained

PICTURES = [e.picture().to_svg() for e in explained().values()]
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" class="gx-picture" viewBox="0 0 9 9">'
HOSTILE = [
    f"{HEAD}<script>alert(1)</script></svg>",
    f'{HEAD}<rect onload="alert(1)" width="1" height="1"/></svg>',
    f'{HEAD}<a href="javascript:alert(1)"><text>x</text></a></svg>',
    f'{HEAD}<image href="https://example.org/a.png"/></svg>',
    f"{HEAD}<style>@import 'https://example.org/a.css'</style></svg>",
    f"{HEAD}<style>body{{display:none}}</style></svg>",
    f'{HEAD}<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject></svg>',
    f'{HEAD}<rect style="background:url(https://example.org)"/></svg>',
    '<!DOCTYPE svg [<!ENTITY a "aaaa">]>' + HEAD + "<text>&a;</text></svg>",
    f"{HEAD}</svg><script>alert(1)</script>",
    f"{HEAD}<text>",
    "",
]


@pytest.mark.parametrize("svg", PICTURES)
def test_our_pictures_are_ours(svg):
    assert is_ours(svg)


@pytest.mark.parametrize("svg", HOSTILE)
def test_what_could_do_more_than_be_looked_at_is_not(svg):
    assert not is_ours(svg)


@pytest.mark.parametrize("svg", HOSTILE)
def test_files_with_such_pictures_are_refused(svg):
    def replaced(value):
        if isinstance(value, dict):
            return {k: svg if k == "svg" else replaced(v) for k, v in value.items()}
        return [replaced(v) for v in value] if isinstance(value, list) else value

    text = gx.explain("x**2 * sin(x)", x=3.0).to_json()
    assert '"svg"' in text
    with pytest.raises(ArgumentError, match="more than shapes and words"):
        gx.from_json(json.dumps(replaced(json.loads(text))))


def test_pages_of_one_theme_have_pictures_of_it():
    svg = PICTURES[0]
    light, dark = themed(svg, "light"), themed(svg, "dark")
    assert "prefers-color-scheme" not in light + dark
    assert "#e6e6e6" in dark
    assert "#e6e6e6" not in light
    assert themed(svg, "auto") == svg

"""The names of languages: ISO 639-1 codes, and Whisper's names for them."""

import re
from collections.abc import Mapping
from types import MappingProxyType

_NAMES = """
afrikaans:af albanian:sq amharic:am arabic:ar armenian:hy assamese:as azerbaijani:az bashkir:ba
basque:eu belarusian:be bengali:bn bosnian:bs breton:br bulgarian:bg catalan:ca chinese:zh
croatian:hr czech:cs danish:da dutch:nl english:en estonian:et faroese:fo finnish:fi french:fr
galician:gl georgian:ka german:de greek:el gujarati:gu hausa:ha hebrew:he hindi:hi hungarian:hu
icelandic:is indonesian:id italian:it japanese:ja javanese:jv kannada:kn kazakh:kk khmer:km
korean:ko lao:lo latin:la latvian:lv lingala:ln lithuanian:lt luxembourgish:lb macedonian:mk
malagasy:mg malay:ms malayalam:ml maltese:mt maori:mi marathi:mr mongolian:mn myanmar:my
nepali:ne norwegian:no nynorsk:nn occitan:oc pashto:ps persian:fa polish:pl portuguese:pt
punjabi:pa romanian:ro russian:ru sanskrit:sa serbian:sr shona:sn sindhi:sd sinhala:si slovak:sk
slovenian:sl somali:so spanish:es sundanese:su swahili:sw swedish:sv tagalog:tl tajik:tg
tamil:ta tatar:tt telugu:te thai:th tibetan:bo turkish:tr turkmen:tk ukrainian:uk urdu:ur
uzbek:uz vietnamese:vi welsh:cy yiddish:yi yoruba:yo
"""
_CODES: Mapping[str, str] = MappingProxyType(dict(re.findall(r"(\w+):(\w+)", _NAMES)))


def iso_code(language: str) -> str | None:
    """The ISO 639-1 code of a provider's name for a language, such as `en-US` or `English`; None
    where it has none."""
    name = language.strip().lower()
    code = _CODES.get(name) or name.partition("-")[0]
    return code if len(code) == 2 and code.isascii() and code.isalpha() else None

"""The words of an invented search log: what people look for, and in which words.

A goal is something that people have in mind for a while. It is made of parts that have different
labels: who thinks of a laptop compares laptops (`fact`), looks into shops (`shop`) and at what
makers say (`service`). The parts are the finest intents there are, 24 in all, two to four of each
label.

Part i of goal k shares words with parts of two other goals: goals k, k + 1 and k + 3 (modulo 8)
give their parts 0, 1 and 2 to group k. No two parts of a group have the same label, and no two
groups the same two goals, so words of two groups tell a goal where those of one leave three.
"""

from __future__ import annotations

GOALS: dict[str, dict[str, str]] = {
    "laptop": {
        "fact": "benchmarks processors screens specifications comparison ratings reviews weights",
        "shop": "laptops notebooks chargers discounts warehouse refurbished docks sleeves",
        "service": "warranty repairs drivers registration helpdesk serials recall firmware",
    },
    "holiday": {
        "travel": "flights hotels airport cruises itinerary hostels transfers packages",
        "entertainment": "beaches snorkelling nightlife festivals webcams sunsets surfing parades",
        "fact": "weather population currency timezone climate vaccinations visa embassy",
    },
    "concert": {
        "entertainment": "lyrics videos setlist biography interviews albums trailers premieres",
        "shop": "tickets posters hoodies vinyl seats vouchers wristbands souvenirs",
        "travel": "parking trams directions shuttles arena timetable stations taxis",
    },
    "home": {
        "shop": "sofas curtains wardrobes mattresses lamps carpets bookshelves kettles",
        "service": "mortgage insurance electricity council broadband removals plumbers meters",
        "communicate": "neighbours landlords classifieds flatmates noticeboard tenants agents post",
    },
    "phone": {
        "service": "topup contracts roaming billing voicemail tariffs upgrades coverage",
        "download": "ringtones wallpapers apps themes emojis keyboards launchers widgets",
        "communicate": "texting messenger chatroom greetings email contacts invitations dating",
    },
    "game": {
        "entertainment": "gameplay walkthrough speedruns cheats tournaments records bosses streams",
        "download": "patches mods demos installers savegames emulators skins textures",
        "communicate": "guilds forums teammates clans lobbies moderators servers rivals",
    },
    "school": {
        "download": "worksheets templates fonts slides textbooks flashcards dictionaries clipart",
        "fact": "photosynthesis fractions treaties volcanoes grammar dinosaurs planets pharaohs",
        "other": "calculator synonyms anagrams rhymes converter crosswords stopwatch spellings",
    },
    "family": {
        "other": "surnames ancestry obituaries crests baptisms census gravestones heirlooms",
        "communicate": "reunions relatives classmates godparents letters condolences cousins twins",
        "travel": "villages chapels maps bridleways guesthouses ferries parishes roadworks",
    },
}
"""The goals; of each its parts by label, in order; of each part the nouns that are its own."""

GROUPS_OF_PARTS = (0, 1, 3)
"""Part i of goal k is in group k - this (modulo 8)."""

SHARED_NOUNS = (
    "spring mercury crane pitch bark cello score match",
    "bank court bass trunk stage palm jaguar swift",
    "delta python atlas phoenix comet orbit pilot summit",
    "harbour mint clover saturn falcon anchor compass bridge",
    "tower castle garden silver amber coral pearl ruby",
    "eclipse nova titan echo matrix vector pulse prism",
    "scout ranger pioneer voyager monarch duke knight raven",
    "otter badger lotus maple cedar willow aspen heron",
)
"""The nouns of each group, which mean something else in each of its parts."""

FILLERS = (
    *("free", "best", "new", "online", "quick", "list", "guide", "today"),
    *("local", "top", "help", "old", "easy", "all", "daily", "small"),
)
"""Words that tell nothing: every part uses them equally."""

BEGINNINGS = (
    *("ab", "bel", "bran", "cal", "cor", "dal", "dor", "el", "fal", "fen", "gal", "gor"),
    *("hal", "hes", "il", "jor", "kal", "kes", "lan", "lor", "mal", "mer", "nal", "nor"),
    *("ol", "or", "pel", "per", "quil", "ral", "ros", "sal", "sel", "tal", "tor", "ul"),
    *("val", "ver", "wal", "wes", "yar", "zan", "zor", "bri", "cre", "dri", "fle", "gra"),
)
ENDINGS = (
    *("bex", "bor", "cade", "cott", "dane", "dex", "dine", "fira", "gan", "gate"),
    *("kin", "lita", "lock", "lune", "mara", "mex", "mund", "nara", "nix", "nova"),
    *("pax", "pine", "quay", "rick", "rion", "sby", "sette", "sio", "stow", "tara"),
    *("thra", "tiva", "tron", "vane", "via", "vora", "wick", "wyn", "xia", "zell"),
)
"""A name, of a brand, a place or a person, is a beginning and an ending."""

PAGES = ("guide", "overview", "centre", "index", "news", "tips")
SITES = ("official site", "home page", "account", "portal")
"""How the titles of pages and of whole sites end."""

"""The grammar of an invented assistant: what people ask it for, and in which words.

In a template a word in braces is a slot. A slot draws from its own fillers; a slot of
`SHARED_SLOTS` draws now and then from `SHARED_NAMES`, which may mean a singer, a town or a
restaurant: only the words around tell which.
"""

from __future__ import annotations

TEMPLATES: dict[str, tuple[str, ...]] = {
    "music.play": (
        "play {artist}",
        "play something by {artist}",
        "play some {genre}",
        "play some {mood} {genre}",
        "put on {mood} {genre} by {artist}",
        "i want to hear {artist}",
        "i feel like {genre} {day} {part_of_day}",
        "start the album {album} by {artist}",
        "play {album}",
        "more {genre} like {artist}",
    ),
    "weather.ask": (
        "what is the weather in {city}",
        "what is the weather in {city} {day}",
        "will it {condition} in {city} {day}",
        "will it {condition} {day} {part_of_day}",
        "weather {city} {day} {part_of_day}",
        "how cold does it get in {city} {part_of_day}",
        "do i need an umbrella in {city} {day}",
        "{city} weather {day}",
    ),
    "table.book": (
        "book a table for {party_size} at {restaurant}",
        "book a table for {party_size} at {restaurant} {day} at {time}",
        "reserve {restaurant} for {party_size} people",
        "find a {cuisine} place in {city}",
        "a table at {restaurant} for {party_size} {day}",
        "is {restaurant} open {day} at {time}",
        "{cuisine} food for {party_size} near {city} at {time}",
        "any {cuisine} restaurant open {day}",
    ),
    "trip.book": (
        "get me from {origin} to {destination}",
        "a train from {origin} to {destination} {day}",
        "trains to {destination} {day} at {time}",
        "is there a bus to {destination} from {origin}",
        "leave {origin} {day} {part_of_day} for {destination}",
        "{origin} to {destination} at {time}",
        "two seats to {destination} {day}",
        "how do i get to {destination} by {time}",
    ),
    "alarm.set": (
        "wake me at {time}",
        "wake me {day} at {time}",
        "set an alarm for {time}",
        "set an alarm for {time} {day}",
        "remind me {day} {part_of_day}",
        "alarm off",
    ),
}

TOWNS = (
    "lindmoor",
    "port ellery",
    "san marel",
    "greystone",
    "hollin bay",
    "upper tavish",
    "marlowe springs",
    "east quill",
    "dunmere",
    "veskel",
    "brightwater",
    "new corran",
    "alderby",
    "st osric",
    "fenwick on sea",
    "tarrow",
)
SHARED_NAMES = (
    "savannah",
    "the harbour",
    "juniper hill",
    "little oslo",
    "montana",
    "blue canyon",
    "verona",
    "old mill lane",
    "georgia",
    "summer isles",
    "phoenix",
    "the lighthouse",
)
SHARED_SLOTS = frozenset({"artist", "album", "city", "restaurant", "origin", "destination"})
FILLERS: dict[str, tuple[str, ...]] = {
    "album": (
        "paper rivers",
        "nine quiet rooms",
        "the long way down",
        "glass orchard",
        "tin moon",
        "letters to no one",
        "salt and copper",
        "small hours",
    ),
    "artist": (
        "ada pellow",
        "the copper foxes",
        "milo grant",
        "sister rain",
        "dj tandem",
        "the north parade",
        "ivy calder",
        "boris and the tides",
        "luma",
        "wren okafor",
        "hollow kings",
        "the velvet ferns",
    ),
    "city": TOWNS,
    "origin": TOWNS,
    "destination": TOWNS,
    "restaurant": (
        "the copper pot",
        "chez amelie",
        "noodle yard",
        "the green table",
        "casa brava",
        "saffron house",
        "the fat pear",
        "umi",
        "two spoons",
        "bistro nine",
    ),
    "genre": ("jazz", "blues", "rock", "folk", "hip hop", "drum and bass", "soul", "punk"),
    "mood": ("slow", "happy", "loud", "mellow", "late night", "sad", "cold"),
    "condition": ("rain", "snow", "freeze", "be sunny", "be windy", "be cold"),
    "cuisine": ("thai", "italian", "soul", "ramen", "tapas", "vegan", "west african"),
    "party_size": ("two", "three", "four", "six", "2", "4", "ten"),
    "day": ("today", "tomorrow", "on monday", "next friday", "this weekend", "on the third"),
    "part_of_day": ("in the morning", "tonight", "late at night", "after lunch", "at noon"),
    "time": ("seven", "eight thirty", "noon", "6 pm", "quarter past nine", "ten", "19:45"),
}

BEFORE = ("please", "hey", "could you", "ok", "um", "hi there")
AFTER = ("please", "thanks", "if you can", "right now")

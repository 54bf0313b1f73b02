"""Word lists from which make_tasks.py draws names, goods and sentences."""

FIRST = """Ada Bruno Carla Dario Edith Farid Greta Hamid Ines Jonas Keiko Lamar Mira Nadia Oscar
Petra Quentin Rosa Samir Tessa Ugo Vera Wanda Xenia Yusuf Zelda""".split()

LAST = """Abbott Brandt Castro Dufour Eklund Farrow Gallo Hansen Iversen Jansen Kowal Lindt Marsh
Novak Okafor Pereira Quinn Rossi Sato Turner Ueda Varga Weiss Yilmaz Zeman""".split()

STREETS = """Alder Birch Cedar Dogwood Elm Fir Gorse Hazel Ivy Juniper Larch Maple Oak Poplar Rowan
Sorrel Thistle Willow""".split()

KINDS = ["Lane", "Street", "Road", "Close", "Way"]

CITIES = """Ashford Brookfield Claremont Dunmore Eastvale Foxton Glenwood Harrow Kingsley Lakeside
Milton Northam Oakdale""".split()

COLOURS = ["moss green", "slate grey", "clay red", "sand beige", "night blue", "straw yellow"]
SIZES = ["size S", "size M", "size L", "size XL"]

# product -> (options it comes in, lowest and highest price in dollars)
PRODUCTS = {
    "wool blanket": (COLOURS, 35, 90),
    "canvas satchel": (COLOURS, 30, 80),
    "enamel kettle": (COLOURS, 20, 60),
    "rain jacket": (SIZES, 40, 120),
    "garden boot": (SIZES, 30, 70),
    "oak stool": (COLOURS, 45, 110),
    "ceramic teapot": (COLOURS, 18, 55),
    "cotton hammock": (COLOURS, 40, 95),
    "linen apron": (SIZES, 15, 40),
    "steel thermos": (COLOURS, 15, 45),
    "bamboo tray": (COLOURS, 12, 30),
    "felt slipper": (SIZES, 14, 38),
    "pruning shear": (COLOURS, 16, 48),
    "camp stove": (COLOURS, 50, 130),
    "bird feeder": (COLOURS, 14, 42),
    "picnic rug": (COLOURS, 22, 60),
    "fleece vest": (SIZES, 28, 75),
    "herb planter": (COLOURS, 16, 50),
    "copper lantern": (COLOURS, 24, 70),
    "work glove": (SIZES, 10, 28),
    "storage basket": (COLOURS, 18, 52),
    "straw hat": (SIZES, 18, 46),
}

GREETINGS = ["Hello,", "Hi there,", "Good morning,", "Good evening,", "Hi,", "Hello!"]
AGREES = ["Yes, please.", "Yes, go on.", "Yes, that is fine.", "Yes.", "Yes, do that."]
REFUSALS = [
    "Why do you need that? Just fix it!",
    "I have been through this before. Just do your job!",
    "Not this again. I only want it sorted out!",
]
ANGER = ["This is the third time I write.", "I am really annoyed.", "What a mess, honestly."]
SMALL_TALK = [
    "I have been a customer for 11 years.",
    "My sister shops here too.",
    "The weather has been dreadful here.",
    "I hope you are well.",
    "",
    "",
]

CANCEL = [
    "Please cancel my order for the {p}.",
    "I would like to cancel the {p} I ordered.",
    "Can you cancel the order with the {p}?",
    "I no longer need the {p}, so cancel it please.",
    "I ordered the {p} by mistake and want to cancel.",
]
DAMAGED = [
    "The {p} arrived damaged and I want a refund.",
    "My {p} was damaged on the way. I would like my money back.",
    "I would like a refund for the {p}, it came damaged.",
    "The box was fine but the {p} inside was damaged. Money back, please.",
    "I am asking for a refund: the {p} you delivered is damaged.",
]
RETURN = [
    "I want to return the {p}.",
    "I would like to send back the {p}, it is not to my taste.",
    "How can I return the {p}? I do not need it after all.",
    "I have changed my mind about the {p} and want to return it.",
    "The {p} does not go with my house. Can I send it back?",
]
ADDRESS = [
    "I am moving: please change the delivery address for the {p}.",
    "Can you send the {p} to a different address?",
    "The {p} must go to a new address, we have moved.",
    "Please update the address on my order of the {p}.",
]
SWAP = [
    "I would like to swap the {p} in {old} for one in {new}.",
    "The {p} in {old} is not right. Can I send it back and get {new} instead?",
    "Could I trade my {p}, {old}, for {new}?",
    "I want to return the {p} in {old} and have {new} in its place instead.",
    "The {p} I got is {old}. I would rather have {new} instead, so I will send back mine.",
    "Can you swap my {p}? I have {old} and need {new}.",
    "I took the {p} in {old} by mistake. Please give me {new} instead.",
]
SAFETY = [
    "The {p} gave way and I hurt my back. I want a refund.",
    "I burned my hand on the {p}. Take it back, I want to return it.",
    "My son was injured by the {p}. What will you do?",
    "A splinter of the {p} left me bleeding. I want my money back.",
]
LEGAL = [
    "My lawyer will write to you about the {p} unless I get a refund.",
    "I will take you to court over the {p}. Cancel everything.",
    "I have spoken to a lawyer about the {p}. I want to return it.",
]

# reason code -> sentences of customers that do not use the code's own word
REASONS = {
    "damaged": [
        "My {p} came broken. I want my money back.",
        "There is a crack right through the {p}. I want a refund.",
        "The {p} was torn when I took it out. Refund, please.",
    ],
    "wrong_item": [
        "You sent me the {p} in the wrong colour. I want my money back.",
        "What I got is the wrong {p}. I want a refund.",
    ],
    "missing": [
        "The {p} never arrived although it says delivered. I want a refund.",
        "The {p} was not in the parcel. I want my money back.",
    ],
    "late": [
        "The {p} came too late for the party. I want a refund.",
        "My {p} was a birthday present and came too late. I want my money back.",
    ],
    "other": ["The {p} smells of paint and it will not go away. I want a refund."],
}

NUMBERS = ["zero", "one", "two", "three", "four", "five", "six"]
SOME = [
    "{k} of the {n} {p}s I bought were damaged. I want a refund for those.",
    "I bought {n} {p}s and {k} of them arrived damaged. Money back for those, please.",
    "I want a refund: {k} of my {n} {p}s came damaged, the rest is fine.",
]
ALL = ["All {n} of the {p}s I bought were damaged. I want a refund."]

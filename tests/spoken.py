"""A session of our own words, long enough to say who speaks, and what recognisers do to it."""

from __future__ import annotations

from therapy_analytics.core.session import Role, Session, Turn

SPOKEN = (
    "Good to see you again. How have things been since we last met?",
    "Honestly, not great. I had a really hard week and I barely slept.",
    "That sounds exhausting. What do you think was keeping you awake?",
    "I keep going over what my sister said to me at the wedding. I can't let it go.",
    "So her words are still with you, and they hurt. Can you tell me what you felt when she said it?",
    "I felt small. I was angry too, but I didn't say anything. I just went outside and smoked.",
    "You stepped away instead of fighting. In what way did smoking help you in that moment?",
    "It calmed me down. I know I'd promised my wife I would stop, so then I felt guilty about that as well.",
    "On one hand it calms you, and on the other hand it leaves you feeling guilty. Did I get that right?",
    "Yeah, exactly. I hate that I lie to her about it.",
    "Being honest with her matters a lot to you. What would be different if you told her?",
    "I guess I would feel lighter. She'd probably be upset for a while, but I think she would understand.",
    "You believe she could handle it. How confident are you, on a scale from zero to ten, that you could tell her?",
    "Maybe a five. I get scared when I picture her face.",
    "Why are you at a five and not at a two?",
    "Because I told her about my debts last year, and we got through that.",
    "You have done something hard like this before, and it worked out. What helped you then?",
    "My brother. I called him first and he told me to just say it quickly.",
    "It sounds like talking to your brother gives you courage. Would it make sense to call him this week?",
    "I could do that. I usually talk to him on Sundays when I'm driving home.",
    "Okay, so you would call him on Sunday. What might get in the way of that plan?",
    "I don't know. If my kids are in the car I can't really talk.",
    "So what could you do if the kids are with you?",
    "I'd wait until they're in bed, I suppose. I want to get this done before my birthday.",
    "It sounds like you are ready to take a step. Let me sum up what you told me today, and you say what I missed.",
    "Sure. I'm a bit nervous, but I feel better than I did when I came in.",
)
FRENCH = (
    "Bonjour, comment allez-vous depuis notre dernière rencontre ?",
    "Pas très bien, je dors mal et je pense toujours à mon travail.",
    "Qu'est-ce qui vous inquiète le plus quand vous pensez au travail ?",
    "Mon chef ne me parle plus et je ne sais pas pourquoi.",
    "Vous vous sentez mis à l'écart, est-ce que c'est bien cela ?",
    "Oui, exactement, et je rentre chaque soir avec une boule au ventre.",
)
LABELS: dict[Role, str] = {"therapist": "Ruth", "client": "Tom", "other": "Ana"}


def session(spoken: tuple[str, ...] = SPOKEN, *, swapped: range = range(0), name: str = "talk") -> Session:
    """Return the session, with the labels of some turns swapped."""
    turns = []
    for at, text in enumerate(spoken):
        role: Role = "therapist" if (at % 2 == 0) != (at in swapped) else "client"
        if turns and turns[-1].role == role:
            turns[-1] = _turn(len(turns) - 1, role, f"{turns[-1].text} {text}", turns[-1].first_row)
        else:
            turns.append(_turn(len(turns), role, text, at + 1))
    return Session(id=name, source_file=f"{name}.txt", turns=tuple(turns))


def _turn(index: int, role: Role, text: str, row: int) -> Turn:
    return Turn(index=index, speaker=LABELS[role], role=role, text=text, first_row=row)


def plain(text: str) -> str:
    """Return a text as a recogniser writes it that knows no punctuation."""
    return " ".join("".join(sign for sign in text.lower() if sign.isalnum() or sign in " '").split())


def labelled(spoken: tuple[str, ...] = SPOKEN, first: str = "Ruth", second: str = "Tom") -> str:
    """Return a text with labels that take turns."""
    return "".join(f"{second if at % 2 else first}: {text}\n" for at, text in enumerate(spoken))

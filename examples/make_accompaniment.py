"""Music to train on
====================

Make accompaniment without voice, to train on: pop chords in many styles, played by a synthesiser.

Run it with ``python examples/make_accompaniment.py FOLDER --minutes 60 --seed 0``: it writes pieces of 16 to 20 s,
``made_0000.music.flac`` and so on, 16 kHz and mono. Style, tempo, key, chords, instruments, their loudness, reverb and
chorus differ from piece to piece; a third of the pieces have a quiet second melody. The same seed makes the same ones.

It needs ``pip install av soundfile`` and three Debian packages: ``apt install mma fluidsynth fluid-soundfont-gm``.
MMA turns chords and the name of a style (a groove) into MIDI, FluidSynth plays it with the FluidR3 sound font.
"""
# sphinx_gallery_thumbnail_path = "song.png"

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.signal import resample_poly

RATE = 16_000
LIBRARY = Path("/usr/share/mma/lib")
SOUND_FONT = Path("/usr/share/sounds/sf2/FluidR3_GM.sf2")

# Families of styles: how often each is taken, and its files in MMA's library.
FAMILIES = {
    "ballad": (6, "*/*ballad*.mma"),
    "beat": (4, "*/*8beat*.mma */16beat*.mma */slow16beat.mma"),
    "pop": (4, "casio/*pop*.mma stdlib/popspiritual.mma"),
    "rock": (
        3,
        "*/*slowrock.mma */*softrock.mma */*rock[12].mma stdlib/*rock.mma stdlib/rock-128.mma pflib/highfive.mma",
    ),
    "soul": (
        3,
        "*/*soul.mma casio/*rb.mma casio/r+b.mma stdlib/rb.mma casio/funk*.mma stdlib/bvfunk.mma kara/Kfunk1.mma",
    ),
    "folk": (2, "stdlib/folk*.mma stdlib/bluefolk.mma stdlib/*country*.mma kara/2beatp.mma stdlib/lullaby.mma"),
    "arpeggio": (2, "stdlib/arpeggio*.mma stdlib/hymn.mma casio/serenade.mma casio/ambient*.mma"),
    "latin": (2, "*/*bossa*.mma stdlib/*bolero.mma stdlib/beguine.mma stdlib/rhumba.mma stdlib/chacha.mma"),
    "dance": (1, "casio/dance*.mma stdlib/boneym.mma casio/house.mma casio/triphop.mma */trance*.mma"),
    "waltz": (1, "*/*waltz.mma"),
    "swing": (1, "*/*shuffle*.mma stdlib/easyswing.mma casio/slowswing.mma stdlib/slowjazz.mma stdlib/mellowjazz.mma"),
}

# Chord progressions in C major and A minor, which MMA transposes: I V vi IV, vi IV I V and so on.
PROGRESSIONS = """
C G Am F | C Am F G | Am F C G | F G Em Am | C G Am Em F C F G | C Em F G | Dm G C Am | C F Am G | F G C Am
Am G F E | Am Dm G C F Dm E Am | Am F G Am | Am Em F C Dm Am E E | F Em Dm C | C Bb F C | Am C G Dm | C E Am F
C C F G | F Fm C C
"""
SEVENTHS = {
    "C": "CM7 C6 Cadd9",
    "F": "FM7 F6 Fadd9",
    "G": "G7 G9",
    "E": "E7",
    "Am": "Am7",
    "Dm": "Dm7 Dm9",
    "Em": "Em7",
}
BASSES = {"C": "C/E C/G", "G": "G/B G/D", "F": "F/A F/C F/G", "Am": "Am/G Am/E", "Dm": "Dm/F Dm/G", "Em": "Em/B"}

# Instruments that stand in for each other, and those that play a second melody.
KEYBOARDS = "Piano1 Piano1 Piano2 RhodesPiano EPiano Piano3 Organ1 Organ2 Organ3 Vibraphone MusicBox Celesta"
GUITARS = "NylonGuitar SteelGuitar SteelGuitar CleanGuitar JazzGuitar MutedGuitar OrchestralHarp"
PADS = "Strings Strings SlowStrings SynthStrings1 SynthStrings2 WarmPad PolySynth SweepPad BowedGlass SoundTrack"
BASS = "AcousticBass FingeredBass FingeredBass PickedBass FretlessBass SynthBass1 SynthBass2 SlapBass1"
WINDS = "Trumpet BrassSection SynthBrass1 FrenchHorn AltoSax TenorSax Clarinet Flute PanFlute Oboe"
VOICES = "ChoirAahs VoiceOohs SynthVox SoloVoice SpaceVoice HaloPad"  # they sing: pads play instead
LEADS = f"{KEYBOARDS} {GUITARS} {WINDS} Violin Cello Strings Glockenspiel Harmonica Koto Shakuhachi SawWave"
KITS = (0, 0, 0, 8, 16, 24, 25, 32, 40)


def find_grooves() -> dict[str, list[list[str]]]:
    """The grooves of each family, one list for each file: those that go on, without beginnings, fills and endings."""
    found = {}
    for family, (_, patterns) in FAMILIES.items():
        found[family] = []
        for path in sorted({path for pattern in patterns.split() for path in LIBRARY.glob(pattern)}):
            names = re.findall(r"^\s*DefGroove\s+(\S+)", path.read_text(errors="replace"), re.I | re.M)
            names = [name for name in names if not re.search(r"intro|end|fill|break|metro|F[AB]$|\dE$", name, re.I)]
            beats = re.search(r"^\s*Time\s+(\d+)", path.read_text(errors="replace"), re.I | re.M)
            if names and path.parent.name != "zoom":  # these are drums alone
                beats = beats[1] if beats else "4"
                found[family].append([beats, *(f"{path.parent.name}:{name}" for name in names)])
    return found


def vary(chord: str, draw: np.random.Generator) -> str:
    """The chord, or one that may stand in its place."""
    change = draw.random()
    if change < 0.25 and chord in SEVENTHS:
        return str(draw.choice(SEVENTHS[chord].split()))
    if change < 0.4 and chord in BASSES:
        return str(draw.choice(BASSES[chord].split()))
    return chord + "sus4" if change < 0.45 and chord in ("C", "G", "E") else chord


def write_bar(chords: list[str], beats: int, lead: bool, draw: np.random.Generator) -> str:
    """One bar: its chords and, with a lead, some notes of the scale that start from the chord."""
    line = vary(chords[0], draw)
    if len(chords) > 1:
        line += f" {vary(chords[1], draw)}@{beats // 2 + 1}"
    elif line == chords[0] + "sus4":
        line += f" {chords[0]}@{beats // 2 + 1}"
    if not lead or draw.random() < 0.4:
        return line
    step = "cdefgab".index(chords[0][0].lower()) + int(draw.choice([0, 2, 4]))
    notes, left = [], float(beats)
    while left > 0:
        length, name = [(1.0, "4"), (0.5, "8"), (2.0, "2"), (0.25, "16")][draw.choice(4, p=[0.3, 0.45, 0.15, 0.1])]
        if length > left:
            length, name = (1.0, "4") if left >= 1 else (0.25, "16")
        octave = "+" * (step // 7) if step >= 0 else "-"
        notes.append(f"{name}{'r' if draw.random() < 0.2 else 'cdefgab'[step % 7] + octave};")
        step = int(np.clip(step + draw.choice([-2, -1, -1, 0, 1, 1, 2]), -4, 12))
        left -= length
    return f"{line} {{{' '.join(notes)}}}"


def write_song(family: str, grooves: list[str], seconds: float, draw: np.random.Generator) -> str:
    """What MMA reads: the tables of instruments, tempo and key, then grooves and bars of chords."""
    beats = int(grooves[0])
    slow = family in ("ballad", "arpeggio") or any("slow" in name.lower() for name in grooves)
    tempo = int(draw.integers(60, 96) if slow else draw.integers(75, 141)) * (1.6 if beats > 4 else 1)
    swaps = {}
    for group in (names.split() for names in (KEYBOARDS, GUITARS, PADS, BASS, WINDS)):
        swaps.update({name: draw.choice(group) for name in sorted(set(group)) if draw.random() < 0.5})
    swaps["TremoloStrings"] = draw.choice(PADS.split())
    swaps.update({name: draw.choice(PADS.split()) for name in VOICES.split()})
    lines = [f"RndSeed {draw.integers(1 << 30)}", f"Tweaks DrumKit={draw.choice(KITS)}", f"Tempo {tempo:.0f}"]
    lines += [f"Transpose {draw.integers(-5, 7)}", "VoiceTr " + " ".join(f"{a}={b}" for a, b in swaps.items())]
    lead = draw.random() < 1 / 3
    if lead:
        volume, octave = draw.choice(["pp", "p", "mp"]), draw.integers(4, 6)
        lines += [
            "Begin Solo",
            f"Voice {draw.choice(LEADS.split())}",
            f"Octave {octave}",
            f"Volume {volume}",
            "Articulate 95",
            "End",
        ]
    progressions = PROGRESSIONS.strip().replace("\n", " | ").split(" | ")
    chords = str(draw.choice(progressions)).split()
    per_bar = 2 if draw.random() < 0.25 and beats != 3 else 1
    bars = int(np.ceil(seconds / (60 / tempo * beats))) + 2
    change = int(draw.integers(2, bars + 2))  # here comes another groove of the same file
    for bar in range(bars):
        if bar in (0, change):
            lines.append(f"Groove {draw.choice(grooves[1:])}")
        if bar % 8 == 7 and draw.random() < 0.5:
            chords = str(draw.choice(progressions)).split()
        now = [chords[(per_bar * bar + k) % len(chords)] for k in range(per_bar)]
        lines.append(f"{bar + 1} {write_bar(now, beats, lead, draw)}")
    return "\n".join(lines) + "\n"


def balance(midi: bytes, draw: np.random.Generator) -> bytes:
    """The MIDI file with one more track, which sets each channel's loudness, reverb and chorus."""
    events = b""
    for channel in range(16):
        loudness = draw.integers(45 if channel == 9 else 65, 128)  # channel 9, counted from 0, has the drums
        for control, value in ((7, loudness), (91, draw.integers(0, 90)), (93, draw.integers(0, 60))):
            events += bytes([0, 0xB0 + channel, control, int(value)])
    events += b"\x00\xff\x2f\x00"
    tracks = int.from_bytes(midi[10:12], "big") + 1
    return midi[:10] + tracks.to_bytes(2, "big") + midi[12:] + b"MTrk" + len(events).to_bytes(4, "big") + events


def play(midi: Path, draw: np.random.Generator) -> np.ndarray:
    """What FluidSynth plays, as mono samples at 16 kHz."""
    settings = {
        "synth.reverb.room-size": draw.uniform(0.1, 0.9),
        "synth.reverb.damp": draw.uniform(0.0, 0.8),
        "synth.reverb.level": draw.uniform(0.1, 0.9),
        "synth.chorus.level": draw.uniform(0.2, 2.5),
        "synth.chorus.speed": draw.uniform(0.2, 1.5),
        "synth.chorus.depth": draw.uniform(2.0, 10.0),
    }
    sound = midi.with_suffix(".wav")
    options = [part for name, value in settings.items() for part in ("-o", f"{name}={value:.3f}")]
    # Played at 48 kHz and lowered with a filter: at 16 kHz, the cymbals would fold over.
    command = ["fluidsynth", "-niq", *options, "-F", sound, "-O", "float", "-r", str(3 * RATE), SOUND_FONT, midi]
    subprocess.run(command, check=True, capture_output=True, timeout=120)

    import soundfile

    samples, _ = soundfile.read(sound, dtype="float32")
    return resample_poly(samples.mean(axis=1), 1, 3)


def make_piece(grooves: dict[str, list[list[str]]], draw: np.random.Generator, folder: Path) -> np.ndarray | None:
    """One piece, or nothing where MMA fails or the piece falls silent."""
    weights = np.array([FAMILIES[family][0] for family in grooves], dtype=float)
    family = str(draw.choice(list(grooves), p=weights / weights.sum()))
    chosen = grooves[family][draw.integers(len(grooves[family]))]
    size, start = int(draw.uniform(16, 20) * RATE), int(draw.uniform(0, 2) * RATE)
    (folder / "song.mma").write_text(write_song(family, chosen, (start + size) / RATE, draw))
    midi = folder / "song.mid"
    midi.unlink(missing_ok=True)
    subprocess.run(["mma", "-f", midi, folder / "song.mma"], check=False, capture_output=True, timeout=120)
    if not midi.exists():
        return None
    midi.write_bytes(balance(midi.read_bytes(), draw))
    piece = play(midi, draw)[start : start + size]
    if piece.size < size:
        return None
    loudness = np.sqrt(np.square(piece[: size // RATE * RATE].reshape(-1, RATE)).mean(axis=1))
    if loudness.mean() < 1e-3 or (loudness < 0.05 * loudness.mean()).sum() > 2:
        return None
    return piece * (draw.uniform(0.3, 0.95) / np.abs(piece).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="where the pieces go; without it, this help is shown")
    parser.add_argument("--minutes", type=float, default=60.0, help="how much to make (default: 60)")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other pieces (default: 0)")
    given = parser.parse_args()
    if given.folder is None:
        parser.print_help()
        return
    if not (shutil.which("mma") and shutil.which("fluidsynth") and SOUND_FONT.exists() and LIBRARY.exists()):
        sys.exit("MMA, FluidSynth or its sound font is missing: apt install mma fluidsynth fluid-soundfont-gm")

    import soundfile

    given.folder.mkdir(parents=True, exist_ok=True)
    grooves = find_grooves()
    made, attempt, seconds = 0, 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        while seconds < 60 * given.minutes:
            piece = make_piece(grooves, np.random.default_rng([given.seed, attempt]), Path(folder))
            attempt += 1
            if piece is None:
                continue
            path = given.folder / f"made_{made:04d}.music.flac"
            aside = path.with_suffix(".part")
            soundfile.write(aside, piece, RATE, format="FLAC", subtype="PCM_16")
            aside.rename(path)
            made, seconds = made + 1, seconds + piece.size / RATE
    print(f"{made} pieces, {seconds / 60:.1f} minutes, in {given.folder}; {attempt - made} tries came to nothing")


if __name__ == "__main__":
    main()

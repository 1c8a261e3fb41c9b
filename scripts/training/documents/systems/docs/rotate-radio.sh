#!/bin/sh
# rotate-radio.sh - moves and thins out the recordings of Radio Hollowmere
#
# Runs from cron on the machine "parrot" every day at 03:40, after the replay of the late show has ended.
# Usage: rotate-radio.sh [-n] [-k DAYS] [-s SHOW]
#   -n        only say what would be done
#   -k DAYS   keep raw recordings that long (default 42)
#   -s SHOW   treat one show only, e.g. -s breakfast
# Exit status: 0 all well, 1 some file could not be moved, 2 disk full, 9 another copy is running.
#
# 2021  first version, Tamsin Okoro
# 2023  loudness check by Bram Wieringa
# 2025  copy to the city archive

set -eu

KEEP=42          # the broadcasting authority may ask for any programme within six weeks
RAW=/rec/raw
DONE=/rec/done
ARCHIVE=archive@docs.hollowmere.example:/in/radio
MIN_FREE_GB=70   # with less than that we stop before anything is half copied
LOUD=-23         # LUFS; louder files are turned down, quieter ones are left as they are

# Never touch a file younger than 20 minutes, it may still be written by the studio.
YOUNG=20

while getopts nk:s: opt; do
  case $opt in
    n) DRY=1 ;;
    k) KEEP=$OPTARG ;;
    s) SHOW=$OPTARG ;;
    *) exit 64 ;;
  esac
done

# mkdir is atomic, that is why the lock is a directory and not a file
mkdir /run/rotate-radio.lock || exit 9

free=$(df -BG --output=avail /rec | tail -1 | tr -dc 0-9)
if [ "$free" -lt "$MIN_FREE_GB" ]; then
  # The lamp over the mixing desk turns orange, so that the people in the studio notice even without mail.
  echo orange > /dev/lamp0
  exit 2
fi

# --- 1. Names -------------------------------------------------------
# The studio writes 20250301-0600-breakfast.wav; the day is the day of the START of a show,
# also for the night programme that runs past midnight.

# --- 2. Convert -----------------------------------------------------
# Speech goes to 96 kbit/s mono, music to 256 kbit/s stereo. What is music stands in shows.lst, column 3.
# A three-hour show takes parrot roughly 4 minutes.
convert_all() {
  nice -n 15 encode --list /etc/radio/shows.lst "$RAW" "$DONE"
}

# --- 3. Jingles -----------------------------------------------------
# Jingles are bought for the air only: they must be cut out before anything is put on the web.
# (letter of the rights society, 8 Aug 2022; the fine was 640)
cut_jingles() {
  mute --marks "$DONE"/*.cue
}

# --- 4. Council meetings --------------------------------------------
# Recordings of the town council are kept for ten years, and copied with a checksum.
copy_council() {
  rsync --checksum "$DONE"/*-council.ogg "$ARCHIVE"
}

# --- 5. Delete ------------------------------------------------------
# Interviews are asked about first: a file NAME.hold beside the recording protects it.
# Only Tamsin and the editor of the day may place a hold; it lapses after a year.
delete_old() {
  find "$RAW" -name '*.wav' -mtime +"$KEEP" ! -name '*interview*' -delete
}

# --- 6. Podcast feed ------------------------------------------------
# The feed shows the last 12 episodes. The children's programme is left out of it at the wish of the school.
make_feed() {
  feedmaker --last 12 --skip storytime > /var/www/feed.xml
}

convert_all; cut_jingles; copy_council; delete_old; make_feed

# If you find the lock after a crash, remove it by hand: rmdir /run/rotate-radio.lock
rmdir /run/rotate-radio.lock

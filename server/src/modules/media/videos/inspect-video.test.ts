import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { videoFile } from '../../generations/testing/video-file.ts';
import { inspectVideo } from './inspect-video.ts';

const inspect = (bytes: Buffer) =>
  inspectVideo({
    size: bytes.length,
    read: async (at, length) => bytes.subarray(at, at + length),
  });

const video = { mediaType: 'video/mp4', width: 96, height: 64, durationS: 2.5, frames: 30, hasAudio: false };

test('reads size, duration, frames and audio without decoding', async () => {
  expect(await inspect(videoFile())).toEqual(video);
  const asked = { width: 1920, height: 1080, seconds: 8, frames: 192, hasAudio: true };
  expect(await inspect(videoFile(asked))).toMatchObject({
    width: 1920,
    height: 1080,
    durationS: 8,
    hasAudio: true,
  });
});

test('reads the output of a real encoder', async () => {
  const ball = await readFile(new URL('../../videos/testing/ball.mp4', import.meta.url));
  expect(await inspect(ball)).toEqual({ ...video, width: 320, height: 192, durationS: 3, frames: 36 });
  await expect(inspect(ball.subarray(0, -100))).rejects.toThrow('damaged');
});

test('refuses a video truncated at any byte', async () => {
  const whole = videoFile();
  for (let length = 0; length < whole.length; length += 1)
    await expect(inspect(whole.subarray(0, length)), String(length)).rejects.toThrow(/^The video /);
});

test.each([
  ['a web page', Buffer.from('<html>No video</html>'.repeat(20)), 'must be an MP4 file'],
  ['nothing', Buffer.alloc(0), 'must be an MP4 file'],
  ['a video without an index', Buffer.concat([videoFile().subarray(0, 16), Buffer.alloc(64)]), 'damaged'],
  ['a video of length zero', videoFile({ seconds: 0 }), 'damaged'],
  ['a video without a picture', videoFile({ width: 0 }), 'damaged'],
  ['a video of one hour', videoFile({ seconds: 3_600 }), 'longer than 10 minutes'],
  ['a video with huge frames', videoFile({ width: 9_000 }), 'more than 8192 pixels on a side'],
])('refuses %s', async (_what, bytes, message) => {
  await expect(inspect(bytes)).rejects.toThrow(message);
});

test('refuses boxes with invalid lengths', async () => {
  const lying = videoFile();
  lying.writeUInt32BE(4, 16);
  await expect(inspect(lying)).rejects.toThrow('damaged');
  const endless = videoFile();
  endless.writeUInt32BE(0xffffffff, 16);
  await expect(inspect(endless)).rejects.toThrow('damaged');
});

/** Returns a video whose index also has this content. */
function withInIndex(content: Buffer): Buffer {
  const whole = videoFile();
  const at = whole.indexOf('moov') - 4;
  whole.writeUInt32BE(whole.readUInt32BE(at) + content.length, at);
  return Buffer.concat([whole.subarray(0, at + 8), content, whole.subarray(at + 8)]);
}

/** Returns this many empty boxes in a row. */
function emptyBoxes(name: string, count: number): Buffer {
  const one = Buffer.alloc(8);
  one.writeUInt32BE(8);
  one.write(name, 4, 'latin1');
  return Buffer.alloc(8 * count, one);
}

test('stops reading an index with too many boxes or tracks', async () => {
  expect(await inspect(withInIndex(emptyBoxes('free', 900)))).toEqual(video);
  expect(await inspect(withInIndex(emptyBoxes('trak', 15)))).toEqual(video);
  await expect(inspect(withInIndex(emptyBoxes('trak', 16)))).rejects.toThrow('damaged');
  await expect(inspect(withInIndex(emptyBoxes('free', 1_000)))).rejects.toThrow('damaged');
});

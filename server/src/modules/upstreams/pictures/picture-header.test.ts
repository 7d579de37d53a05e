import { expect, test } from 'vitest';
import { readPictureHeader } from './picture-header.ts';

/** Each 3 by 2 pixels. */
const files = {
  png: 'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAFUlEQVR4nGM8UaHBwMDAwMDAxAADABosAWwXscVVAAAAAElFTkSuQmCC',
  jpeg: '/9j/4AAQSkZJRgABAQAAAQABAAD/wAARCAACAAMDASIAAhEBAxEB/9oADAMBAAIRAxEAPwCeiiivkD6o/9k=',
  'lossy webp': 'UklGRjoAAABXRUJQVlA4IC4AAADQAQCdASoDAAIAAUAmJaACdLoB+AADsAD+pNf/TSPGkeNI+Yt/84ljqd3aAAAA',
  'lossless webp': 'UklGRh4AAABXRUJQVlA4TBEAAAAvAkAAAAdQvCIXpf+BiOh/AAA=',
  'extended webp':
    'UklGRm4AAABXRUJQVlA4WAoAAAAYAAAAAgAAAQAAQUxQSAcAAAAAWlpaWlpaAFZQOCAuAAAA0AEAnQEqAwACAAFAJiWgAnS6AfgAA7AA/qTX/00jxpHjSPmLf/OJY6nd2gAAAEVYSUYKAAAATU0AKgAAAAgAAA==',
};

test.each(Object.entries(files))('a %s says its type and its size, and is refused where it is cut off', (name, text) => {
  const bytes = Buffer.from(text, 'base64');
  const mediaType = `image/${name.split(' ').at(-1)}`;
  expect(readPictureHeader(bytes)).toEqual({ mediaType, width: 3, height: 2 });
  expect(readPictureHeader(bytes.subarray(0, -10))).toBeNull();
});

test.each(['', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'GIF89a', 'RIFF\0\0\0\0WEBPVP9 '.padEnd(40, '\0')])(
  'anything else is no picture: %j',
  (text) => {
    expect(readPictureHeader(Buffer.from(text, 'latin1'))).toBeNull();
  },
);

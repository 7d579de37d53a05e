import { makesVideos } from '@bakehouse/contract/generators';
import { THUMBNAIL_SIDE_MAX } from '@bakehouse/contract/media';
import type { SharedGeneration } from '@bakehouse/contract/share-links';

const DESCRIPTION_LENGTH = 200;

/** The contents of a messenger's link preview. */
export type Card = {
  title: string;
  description: string;
  type: 'article' | 'video.other';
  /** Open Graph tags by name; empty if there is no picture. */
  media: Record<string, string>;
};

type FileOf = (url: string) => string;

/** Returns the link preview of a shared generation; `fileOf` makes an address absolute. */
export function cardOf(shared: SharedGeneration, fileOf: FileOf): Card {
  const { generator, title, maker, prompt, outputs } = shared;
  const isVideo = makesVideos(generator);
  const description = shorten(prompt);
  const [output] = outputs;
  return {
    title: `${title} ${isVideo ? 'video' : 'picture'}${maker === null ? '' : ` by ${maker}`}`,
    description,
    type: isVideo ? 'video.other' : 'article',
    media: output ? outputMedia(output, { fileOf, alt: description }) : {},
  };
}

/** Uses the thumbnail, because many previews omit large pictures; for a video it is the first frame. */
function outputMedia(
  output: SharedGeneration['outputs'][number],
  { fileOf, alt }: { fileOf: FileOf; alt: string },
): Record<string, string> {
  const { url, thumbnail_url, media_type, width, height } = output;
  const isVideo = media_type.startsWith('video/');
  const hasThumbnail = thumbnail_url !== url;
  const scale = hasThumbnail ? Math.min(1, THUMBNAIL_SIDE_MAX / Math.max(width, height)) : 1;
  return {
    ...((hasThumbnail || !isVideo) && {
      'og:image': fileOf(thumbnail_url),
      'og:image:type': hasThumbnail ? 'image/webp' : media_type,
      'og:image:width': String(Math.round(width * scale)),
      'og:image:height': String(Math.round(height * scale)),
      'og:image:alt': alt,
    }),
    ...(isVideo && {
      'og:video': fileOf(url),
      'og:video:type': media_type,
      'og:video:width': String(width),
      'og:video:height': String(height),
    }),
  };
}

/** Fits the text on one line of the card. */
function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > DESCRIPTION_LENGTH ? `${line.slice(0, DESCRIPTION_LENGTH - 1).trimEnd()}…` : line;
}

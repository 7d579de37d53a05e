import { makesVideos } from '@bakehouse/contract/generators';
import { formatBytes } from '@bakehouse/contract/labels';
import { THUMBNAIL_SIDE_MAX } from '@bakehouse/contract/media';
import type {
  SharedGeneration,
  SharedModel,
  SharedRun,
  SharedSamples,
  SharedThing,
} from '@bakehouse/contract/share-links';

const DESCRIPTION_LENGTH = 200;

/** What messengers make their card of a link from. */
export type Card = {
  title: string;
  description: string;
  type: 'article' | 'video.other';
  /** Tags of Open Graph, by their names; none where there is nothing to see. */
  media: Record<string, string>;
};

/** The card of what is behind a link; `fileOf` makes an address whole. Pure. */
export function cardOf(shared: SharedThing, fileOf: (url: string) => string): Card {
  const { title, said, type = 'article', mediaFor } = partsOf(shared, fileOf);
  const description = shorten(said);
  return {
    title: `${title}${shared.maker === null ? '' : ` by ${shared.maker}`}`,
    ...{ description, type, media: mediaFor(description) },
  };
}

type Parts = {
  title: string;
  said: string;
  type?: Card['type'];
  mediaFor: (alt: string) => Record<string, string>;
};

function partsOf(shared: SharedThing, fileOf: (url: string) => string): Parts {
  switch (shared.kind) {
    case 'generation':
      return ofGeneration(shared, fileOf);
    case 'run':
      return ofRun(shared, fileOf);
    case 'model':
      return ofModel(shared, fileOf);
  }
}

function ofGeneration({ generator, title, prompt, outputs }: SharedGeneration, fileOf: FileOf): Parts {
  const isVideo = makesVideos(generator);
  const [output] = outputs;
  return {
    title: `${title} ${isVideo ? 'video' : 'picture'}`,
    said: prompt,
    type: isVideo ? 'video.other' : 'article',
    mediaFor: (alt) => (output ? outputMedia(output, { fileOf, alt }) : {}),
  };
}

function ofRun(run: SharedRun, fileOf: FileOf): Parts {
  return {
    title: `${run.title}, a training run`,
    said: [baseSentence(run.made_from.base_model), resultSentence(run)].filter(Boolean).join(' '),
    mediaFor: (alt) => sampleMedia(run.samples, { fileOf, alt }),
  };
}

function ofModel(model: SharedModel, fileOf: FileOf): Parts {
  const size = model.file_count > 0 ? `${formatBytes(model.size_bytes)}.` : '';
  const made = model.made_from ? baseSentence(model.made_from.base_model) : '';
  return {
    title: `${model.title}, a model`,
    said: model.details || [made, size].filter(Boolean).join(' ') || model.title,
    mediaFor: (alt) => sampleMedia(model.samples, { fileOf, alt }),
  };
}

function baseSentence(base: string | null): string {
  return base === null ? 'Trained from a private model.' : `Trained from ${base}.`;
}

function resultSentence({ state, step, steps_total: total, summary }: SharedRun): string {
  const { eval_loss: loss, eval_loss_base: before } = summary ?? {};
  if (state === 'completed' && loss !== undefined)
    return `Held-out loss ${loss.toFixed(3)}${before === undefined ? '' : `, base model ${before.toFixed(3)}`}.`;
  return step > 0 && total > 0 ? `Step ${step} of ${total}.` : '';
}

type FileOf = (url: string) => string;

/** The small copy, as large pictures are left out of many cards; a video's is its first frame, and some play it. */
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

/** The first picture of the newest checkpoint. */
function sampleMedia(
  samples: SharedSamples | null,
  { fileOf, alt }: { fileOf: FileOf; alt: string },
): Record<string, string> {
  const picture = samples?.checkpoints.at(-1)?.pictures[0];
  if (!picture) return {};
  return {
    'og:image': fileOf(picture.url),
    'og:image:type': 'image/png',
    'og:image:width': String(picture.width),
    'og:image:height': String(picture.height),
    'og:image:alt': alt,
  };
}

/** In one line, as long as a card has room for. */
function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > DESCRIPTION_LENGTH ? `${line.slice(0, DESCRIPTION_LENGTH - 1).trimEnd()}…` : line;
}

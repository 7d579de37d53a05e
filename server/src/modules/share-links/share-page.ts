import { makesVideos } from '@bakehouse/contract/generators';
import { THUMBNAIL_SIDE_MAX } from '@bakehouse/contract/media';
import type { SharedGeneration } from '@bakehouse/contract/share-links';
import type { FastifyPluginAsync } from 'fastify';
import type { Caller, Context, Services } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { addressOf, limitBy } from '../../platform/http/callers/rate-limits.ts';
import { type PageHead, sendPage } from '../../platform/http/send-page.ts';
import { getShared, sharePageUrl } from './share-links.ts';

const DESCRIPTION_LENGTH = 200;
const NO_ROBOTS = { name: 'robots', content: 'noindex, nofollow' };
const notFound: PageHead = { title: 'Not found · Bakehouse', meta: [NO_ROBOTS] };

/**
 * Creates the Fastify plugin that serves share pages. A page is the web app with a head for link previews,
 * because messengers do not run scripts.
 */
export function sharePage(services: Services, webDist: string): FastifyPluginAsync {
  return async (app) => {
    const countCall = limitBy(app, {
      name: 'share pages',
      max: services.config.rateLimitPerMinute,
      keyOf: addressOf,
    });
    app.route<{ Params: { token: string } }>({
      method: ['GET', 'HEAD'],
      url: '/share/:token',
      schema: { hide: true },
      onRequest: countCall,
      handler: async ({ id: requestId, params: { token } }, reply) => {
        const caller = { kind: 'nobody' } as const;
        const head = await readHead({ ...services, caller, requestId, idempotencyKey: null }, token);
        // A cached page would still show after the link is revoked.
        reply.headers({ 'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow' });
        return sendPage(reply.code(head ? 200 : 404), webDist, head ?? notFound);
      },
    });
  };
}

async function readHead(ctx: Context<Caller>, token: string): Promise<PageHead | null> {
  try {
    return headOf(ctx, token, await getShared(ctx, { token }));
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}

/** Returns the page's head: its title, and Open Graph and X tags for link previews. */
function headOf({ config }: Context<Caller>, token: string, shared: SharedGeneration): PageHead {
  const { title, description, type, media } = cardOf(shared, (url) => new URL(url, config.publicUrl).href);
  return {
    title: `${title} · Bakehouse`,
    meta: [
      NO_ROBOTS,
      { name: 'description', content: description },
      ...properties({
        'og:site_name': 'Bakehouse',
        'og:type': type,
        'og:url': sharePageUrl(config, token),
        'og:title': title,
        'og:description': description,
        ...media,
      }),
      { name: 'twitter:card', content: Object.keys(media).length > 0 ? 'summary_large_image' : 'summary' },
    ],
  };
}

function properties(tags: Record<string, string>): Record<string, string>[] {
  return Object.entries(tags).map(([property, content]) => ({ property, content }));
}

/** The contents of a link preview. */
type Card = {
  title: string;
  description: string;
  type: 'article' | 'video.other';
  /** Open Graph tags of the picture or video, by name; empty if there is none. */
  media: Record<string, string>;
};

type FileOf = (url: string) => string;

/** Returns the link preview of a shared generation. `fileOf` makes a URL absolute. */
function cardOf(shared: SharedGeneration, fileOf: FileOf): Card {
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

/**
 * Returns the tags for the picture or video. Many previews omit large pictures, so the thumbnail is used; a
 * video's thumbnail is its first frame.
 */
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

/** Returns the text on one line, shortened to the length of a preview. */
function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > DESCRIPTION_LENGTH ? `${line.slice(0, DESCRIPTION_LENGTH - 1).trimEnd()}…` : line;
}

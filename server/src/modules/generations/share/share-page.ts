import type { SharedGeneration } from '@bakehouse/contract/generation-shares';
import { makesVideos } from '@bakehouse/contract/generators';
import { THUMBNAIL_SIDE_MAX } from '@bakehouse/contract/media';
import type { FastifyPluginAsync } from 'fastify';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { addressOf, limitBy } from '../../../platform/http/callers/rate-limits.ts';
import { type PageHead, sendPage } from '../../../platform/http/send-page.ts';
import { getSharedGeneration } from './get-shared-generation.ts';
import { sharePageUrl } from './to-share.ts';

const DESCRIPTION_LENGTH = 200;
const NO_ROBOTS = { name: 'robots', content: 'noindex, nofollow' };

/**
 * Makes the Fastify plugin that sends the page behind a share link: the web app, whose head says what is on it, since
 * messengers make their card of a link from that and run no code.
 */
export function sharePage(services: Pick<Services, 'db' | 'config'>, webDist: string): FastifyPluginAsync {
  return async (app) => {
    const countCall = limitBy(app, { max: services.config.rateLimitPerMinute, keyOf: addressOf });
    app.route<{ Params: { token: string } }>({
      method: ['GET', 'HEAD'],
      url: '/share/:token',
      schema: { hide: true },
      onRequest: countCall,
      handler: async ({ params: { token } }, reply) => {
        const head = await readHead(services, token);
        // Nothing of it is kept on the way: a link that is revoked is gone.
        reply.headers({ 'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow' });
        return sendPage(reply.code(head ? 200 : 404), webDist, head ?? notFound);
      },
    });
  };
}

const notFound: PageHead = { title: 'Not found · Bakehouse', meta: [NO_ROBOTS] };

async function readHead(services: Pick<Services, 'db' | 'config'>, token: string): Promise<PageHead | null> {
  try {
    const { publicUrl } = services.config;
    const shared = await getSharedGeneration(services, { token });
    return headOf(shared, {
      page: sharePageUrl(services.config, token),
      fileOf: (url) => new URL(url, publicUrl).href,
    });
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}

/** What the page's head says: a title, and the tags of Open Graph and X that make a card. */
function headOf(
  { generator, title: by, prompt, maker, outputs: [output] }: SharedGeneration,
  { page, fileOf }: { page: string; fileOf: (url: string) => string },
): PageHead {
  const isVideo = makesVideos(generator);
  const title = `${by} ${isVideo ? 'video' : 'picture'}${maker === null ? '' : ` by ${maker}`}`;
  const description = shorten(prompt);
  return {
    title: `${title} · Bakehouse`,
    meta: [
      NO_ROBOTS,
      { name: 'description', content: description },
      ...properties({
        'og:site_name': 'Bakehouse',
        'og:type': isVideo ? 'video.other' : 'article',
        'og:url': page,
        'og:title': title,
        'og:description': description,
        ...(output && cardMedia(output, { fileOf, alt: description })),
      }),
      { name: 'twitter:card', content: output ? 'summary_large_image' : 'summary' },
    ],
  };
}

/** The small copy, as large pictures are left out of many cards; a video's is its first frame, and some play it. */
function cardMedia(
  output: SharedGeneration['outputs'][number],
  { fileOf, alt }: { fileOf: (url: string) => string; alt: string },
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

function properties(tags: Record<string, string>): Record<string, string>[] {
  return Object.entries(tags).map(([property, content]) => ({ property, content }));
}

/** In one line, as long as a card has room for. */
function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > DESCRIPTION_LENGTH ? `${line.slice(0, DESCRIPTION_LENGTH - 1).trimEnd()}…` : line;
}

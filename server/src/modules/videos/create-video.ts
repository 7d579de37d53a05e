import type { InputOf } from '@bakehouse/contract/endpoint';
import type { createVideo as endpoint, Video } from '@bakehouse/contract/videos';
import type { Context } from '../../platform/context.ts';
import type { Http } from '../../platform/http/bind.ts';
import { clientSignal } from '../../platform/http/client-signal.ts';
import type { IdleCredit } from '../credits/usage/with-idle-credit.ts';
import { fetchPicture } from '../generations/sources/fetch-picture.ts';
import { type SentPicture, sentPicture } from '../generations/sources/sent-picture.ts';
import { getVideo } from './get-video.ts';
import { startVideo } from './start-video.ts';

/** Starts a video. Throws whatever `startVideo` and `fetchPicture` throw. */
export async function createVideo(
  ctx: Context,
  usage: IdleCredit,
  { image, image_url, ...body }: InputOf<typeof endpoint>['body'],
  http: Http,
): Promise<Video> {
  const address = image ?? image_url ?? null;
  const picture = address === null ? null : pictureAt(ctx, address, 'image', http);
  const { id } = await startVideo(ctx, usage, { sent: body, readBody: async () => body, picture });
  http.request.leaveBodyRoom();
  return getVideo(ctx, { id });
}

/** Returns the picture at a link or in a `data:` URL from the field `param`. */
export function pictureAt(ctx: Context, address: string, param: string, { reply }: Http): SentPicture {
  return sentPicture(ctx, address, param, () =>
    fetchPicture(ctx, address, { param, signal: clientSignal(reply) }),
  );
}

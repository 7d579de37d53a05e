import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { validateCard as endpoint } from '@bakehouse/contract/hub/references';
import type { Caller, Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { addressOf } from '../../../platform/http/callers/rate-limits.ts';
import { frontMatterOf } from '../../assets/card/parse-card.ts';
import { readCard } from '../../assets/card/read-card.ts';

/** Returns the faults in a card's metadata. Throws AppError 'unavailable' if too many calls wait. */
export async function validateCard(
  ctx: Context<Caller>,
  { body }: InputOf<typeof endpoint>,
  { request }: Http,
): Promise<ResponseOf<typeof endpoint>> {
  if (frontMatterOf(body.content) === null) {
    const message = 'The card has no metadata: some lines of YAML between two lines of ---, before its text';
    return { errors: [], warnings: [{ message }] };
  }
  const { problem } = await readCard(ctx, body.content, `address:${addressOf(request)}`);
  return { errors: problem === null ? [] : [{ message: problem }], warnings: [] };
}

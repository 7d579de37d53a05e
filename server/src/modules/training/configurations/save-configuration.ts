import type { saveConfiguration as endpoint } from '@bakehouse/contract/configurations';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { upsertConfiguration } from './configuration-queries.ts';

/** Saves a configuration; replaces one with the same name. */
export async function saveConfiguration(
  ctx: Context,
  { body }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  return upsertConfiguration(ctx.db, {
    userId: ctx.caller.userId,
    name: body.config_name,
    payload: body.fine_tune_payload,
    at: ctx.clock.now(),
  });
}

import type { listLoras as endpoint } from '@bakehouse/contract/assets';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { findLoraFile } from './find-lora-file.ts';
import { selectTopFiles } from './queries.ts';

/** The caller's models that are LoRAs for images, the newest first. */
export async function listLoras({ db, caller }: Context): Promise<ResponseOf<typeof endpoint>> {
  const files = await selectTopFiles(db, caller.userId);
  const models = [...Map.groupBy(files, ({ id }) => id).values()];
  const loras = models.filter(findLoraFile).flatMap(([file]) => file ?? []);
  return { loras: loras.map(({ id, title }) => ({ id, title })) };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { type AssetSummary, listAssets } from '@bakehouse/contract/assets';
import { listModels } from '@bakehouse/contract/chat';
import { getMachine } from '@bakehouse/contract/machines';
import { PlainError } from '../plain-error.ts';
import type { Client } from './client.ts';

/** Waits until the Python environment and the starter model are prepared, and prints what it waits for. */
export async function waitForMachine(client: Client): Promise<void> {
  let printed = '';
  for (;;) {
    const { preparations } = await client.call(getMachine, {});
    const open = preparations.find(({ state }) => state !== 'ready');
    if (!open) return;
    if (open.state === 'failed') throw new PlainError(`${open.label}: ${open.detail}`);
    const percent = open.progress === null ? '' : ` (${Math.floor(open.progress * 100)} %)`;
    const line = `    preparing ${open.label.toLowerCase()}: ${open.detail}${percent}`;
    if (line !== printed) console.log(line);
    printed = line;
    await sleep(1000);
  }
}

/** Returns the language model that is part of the product: its asset, and its name for requests. */
export async function findStarterModel(client: Client): Promise<{ asset: AssetSummary; modelName: string }> {
  const query = { types: 'MODEL', owner: client.userId, include_starter: 'true' } as const;
  const asset = (await client.call(listAssets, { query })).datasets.find(
    ({ is_starter, tags }) => is_starter && tags.includes('text-generation'),
  );
  const model = (await client.call(listModels, {})).data.find(
    ({ owned_by, task }) => owned_by === 'bakehouse' && task === 'text',
  );
  if (!asset || !model) throw new PlainError('The list of models does not contain the starter model.');
  return { asset, modelName: model.id };
}

import { createAsset, listAssets } from '@bakehouse/contract/assets';
import { Client, findServer } from './client/client.ts';
import type { Command } from './command.ts';
import { withDatabase } from './ledger.ts';
import { PlainError } from './plain-error.ts';
import { fillScale } from './scale/fill-scale.ts';
import { sizesOf } from './scale/sizes.ts';

export const account = { name: 'Ada Baker', email: 'ada@example.com', password: 'sourdough-starter' };
const dataset = { title: 'Bakehouse facts', file: 'examples/bakehouse-facts.csv' };

/**
 * Creates an example account and dataset through the public API. Existing ones are not changed. With
 * `--scale`, also inserts the data of a large installation directly into the database.
 */
export const seed: Command = async ({ scale, fraction }) => {
  const url = await findServer();
  const client = await Client.signIn(url, account).catch((error: unknown) => {
    if (!(error instanceof PlainError)) throw error;
    return signUp(url);
  });
  const own = await client.call(listAssets, { query: { types: 'RAW', owner: client.userId } });
  if (!own.datasets.some(({ title }) => title === dataset.title)) {
    const id = await client.call(createAsset, {
      body: {
        dataset_type: 'RAW',
        title: dataset.title,
        category: 'Artificial intelligence',
        tags: ['example', 'questions'],
        user_id: client.userId,
      },
    });
    await client.upload(id, dataset.file);
  }
  console.log(`Sign in at ${url} as ${account.email} with the password ${account.password}.`);
  console.log(`The dataset '${dataset.title}' contains ${dataset.file}.`);
  if (scale) {
    const sizes = sizesOf(fraction);
    const print = (line: string) => console.log(`  ${line}`);
    await withDatabase((db) => fillScale(db, { sizes, client, file: dataset.file, print }));
  }
  return 0;
};

/** If another user already has the address, the error says what to do. */
async function signUp(url: string): Promise<Client> {
  return Client.signUp(url, account).catch((error: unknown) => {
    if (!(error instanceof PlainError)) throw error;
    throw new PlainError(
      `The example account ${account.email} could be neither created nor signed in to with the password '${account.password}': ` +
        `${error.message} If the address is taken, delete that account in the web app, or use another data folder.`,
    );
  });
}

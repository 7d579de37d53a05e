import { createAsset } from '@bakehouse/contract/assets';
import { expect } from 'vitest';
import type { TestServer, TestUser } from '../../../testing/test-server.ts';
import { emptySafetensors } from './test-run.ts';

/** Helpers to create the inputs of runs. */
export function sourceCalls(server: TestServer) {
  const create = async (
    as: TestUser,
    type: 'RAW' | 'MODEL',
    title: string,
    files: Record<string, string | Buffer>,
  ) => {
    const body = { dataset_type: type, title, user_id: as.userId };
    const id = await server.request(createAsset, { body }, { as });
    for (const [name, bytes] of Object.entries(files)) {
      const form = new FormData();
      form.set('data_file', new Blob([new Uint8Array(Buffer.from(bytes))]), name);
      const answer = await fetch(`${server.url}/api/v1/asset/${id}/upload`, {
        method: 'POST',
        headers: { 'x-api-key': as.apiKey },
        body: form,
      });
      expect(answer.status, await answer.text()).toBe(200);
    }
    return id;
  };
  return {
    /** Creates an asset with these files. */
    create,
    /** Creates a dataset and a base model of the user. */
    filesOf: async (owner: TestUser) => ({
      asset_id: await create(owner, 'RAW', 'rows', { 'rows.csv': 'question,answer\na,b\n' }),
      base_model: await create(owner, 'MODEL', 'tiny base', {
        'config.json': '{}',
        'model.safetensors': emptySafetensors(),
      }),
    }),
  };
}

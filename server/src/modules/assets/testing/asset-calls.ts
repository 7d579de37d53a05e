import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import * as contract from '@bakehouse/contract/assets';
import type { TestServer, TestUser } from '../../../testing/test-server.ts';
import { createAsset } from '../create-asset.ts';

type Page = { offset?: number; limit?: number };

/** What tests of assets do on a server. */
export function assetCalls(server: TestServer) {
  const contextOf = (user: TestUser, idempotencyKey: string | null = null) => ({
    ...server.services,
    caller: { kind: 'user' as const, userId: user.userId, isOperator: false },
    requestId: 'test',
    idempotencyKey,
  });
  const sendForm = (user: TestUser, id: string, body: FormData) =>
    fetch(`${server.url}/api/v1/asset/${id}/upload`, {
      method: 'POST',
      headers: { 'x-api-key': user.apiKey },
      body,
    });
  return {
    contextOf,
    sendForm,
    /** A dataset 'Facts' unless the words say otherwise. */
    create: (user: TestUser, words: Record<string, unknown> = {}, idempotencyKey: string | null = null) =>
      createAsset(
        contextOf(user, idempotencyKey),
        contract.assetCreatePayload.parse({
          dataset_type: 'RAW',
          title: 'Facts',
          user_id: user.userId,
          ...words,
        }),
      ),
    upload: (
      user: TestUser,
      id: string,
      name: string,
      content: string | Uint8Array<ArrayBuffer>,
      part = 'data_file',
    ) => {
      const form = new FormData();
      form.append(part, new Blob([content]), name);
      return sendForm(user, id, form);
    },
    /** As a file of a folder, whose name is none of its path. */
    uploadAt: (user: TestUser, id: string, filePath: string, content: string | Uint8Array<ArrayBuffer>) => {
      const form = new FormData();
      form.append('path', filePath);
      form.append('data_file', new Blob([content]), 'blob');
      return sendForm(user, id, form);
    },
    get: (user: TestUser, id: string) => server.request(contract.getAsset, { params: { id } }, { as: user }),
    download: (
      user: TestUser,
      id: string,
      file: string,
      headers: Record<string, string> = {},
      query: { revision_id?: string } = {},
    ) => server.send(contract.downloadFile, { params: { id, '*': file }, query }, { as: user, headers }),
    preview: (user: TestUser, id: string, file: string, query: Page = {}) =>
      server.request(contract.previewFile, { params: { id }, query: { path: file, ...query } }, { as: user }),
    /** Files of the blob store, unfinished ones too. */
    storedFiles: async () => {
      const folder = path.join(server.services.config.dataDir, 'blobs');
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name)
        .sort();
    },
  };
}

/** How a call was refused. */
export async function refusalOf(response: Response) {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, code: error.code, message: error.message };
}

/** The name of a blob with these bytes. */
export function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

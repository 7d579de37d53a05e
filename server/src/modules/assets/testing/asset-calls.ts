import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import * as contract from '@bakehouse/contract/assets';
import type { TestServer, TestUser } from '../../../testing/test-server.ts';
import { createAsset } from '../assets.ts';

type Page = { offset?: number; limit?: number };

/** Calls for tests of assets on a server. */
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
    /** Creates a dataset 'Facts' by default. */
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
    /** Uploads with an explicit path; the file name is ignored. */
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
    /** Lists the files of the blob store, including unfinished ones. */
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

/** Reads the error of a rejected call. */
export async function refusalOf(response: Response) {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, code: error.code, message: error.message };
}

/** Returns the name of a blob with these bytes. */
export function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

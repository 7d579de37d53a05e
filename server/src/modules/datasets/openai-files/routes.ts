import { fromFlatId } from '@bakehouse/contract/fields/flat-id';
import type { OpenAiFile } from '@bakehouse/contract/openai-files';
import * as contract from '@bakehouse/contract/openai-files';
import type { Context } from '../../../platform/context.ts';
import { Answer } from '../../../platform/http/answer.ts';
import { type Binding, bind } from '../../../platform/http/bind.ts';
import type { FindAssetUse } from '../../assets/asset-use.ts';
import { downloadFile } from '../../assets/files/download-file.ts';
import { deleteAsset } from '../../assets/remove-asset.ts';
import { createFile, findFile, listFiles, toOpenAiFile } from './files.ts';

/** Returns the metrics of the caller's run as a file. Returns null if no run has this id. */
export type FindResults = (ctx: Context, id: string) => Promise<{ file: OpenAiFile; content: string } | null>;

/** Returns the bindings of OpenAI's Files API. */
export function openAiFileRoutes(parts: { findUses: FindAssetUse[]; findResults: FindResults }): Binding[] {
  return [
    bind(contract.createFile, (ctx, _input, http) => createFile(ctx, http)),
    bind(contract.listFiles, listFiles),
    bind(contract.getFile, async (ctx, { params: { file_id: id } }) => {
      const results = await parts.findResults(ctx, id);
      return results?.file ?? toOpenAiFile(await findFile(ctx, id, 'file_id'));
    }),
    bind(contract.getFileContent, async (ctx, { params: { file_id: id } }, { request }) => {
      const results = await parts.findResults(ctx, id);
      if (results) {
        const headers = { 'content-type': 'text/csv; charset=utf-8' };
        return new Answer(Buffer.from(results.content), { headers });
      }
      const { asset_id, path } = await findFile(ctx, id, 'file_id');
      return downloadFile(
        ctx,
        { params: { id: asset_id, '*': path }, query: { revision_id: undefined } },
        request,
      );
    }),
    bind(contract.deleteOpenAiFile, async (ctx, { params: { file_id: id } }) => {
      await findFile(ctx, id, 'file_id');
      await deleteAsset(ctx, { assetId: fromFlatId(id), findUses: parts.findUses });
      return { id, object: 'file' as const, deleted: true as const };
    }),
  ];
}

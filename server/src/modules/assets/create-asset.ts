import type { createAsset as endpoint } from '@bakehouse/contract/assets';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { uploadBaseModelTypes } from '@bakehouse/contract/limits';
import type { Context } from '../../platform/context.ts';
import { idempotent } from '../../platform/db/idempotency/idempotent.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { completeOnboardingStep } from '../accounts/complete-onboarding-step.ts';
import { findReadableAsset } from './access/find-readable-asset.ts';
import { insertAsset } from './insert-asset.ts';

const families: Record<(typeof uploadBaseModelTypes)[number], string> = { llama3: 'llama', qwen: 'qwen' };

/**
 * Creates an empty dataset or model of the caller and returns its id. Titles may repeat: ids identify assets,
 * and a repeated fine-tune must not fail because of its name.
 */
export async function createAsset(ctx: Context, payload: InputOf<typeof endpoint>['body']): Promise<string> {
  const { userId } = ctx.caller;
  const { id } = await inTransaction(ctx.db, (tx) =>
    idempotent(
      tx,
      { userId, key: ctx.idempotencyKey, operation: 'create-asset', input: payload },
      async () => {
        const parentAssetId = payload.parent_dataset_id || null;
        if (parentAssetId)
          await findReadableAsset(tx, { assetId: parentAssetId, userId, param: 'parent_dataset_id' });
        const assetId = await insertAsset(tx, {
          ownerUserId: userId,
          datasetType: payload.dataset_type,
          title: payload.title,
          category: payload.category,
          details: payload.details,
          tags: payload.tags,
          priceMicro: payload.price,
          embeddingModel: payload.embedding_model,
          dimensions: payload.dimensions,
          isPublished: payload.is_published,
          useIpfs: payload.use_ipfs,
          baseModelType: payload.base_model_type ?? null,
          family: payload.base_model_type ? families[payload.base_model_type] : '',
          parentAssetId,
        });
        await completeOnboardingStep(
          tx,
          userId,
          payload.dataset_type === 'RAW' ? 'create_dataset' : 'create_model',
        );
        return { id: assetId };
      },
    ),
  );
  return id;
}

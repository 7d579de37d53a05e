import { useUploadWork } from '../../modules/datasets/files/uploads/use-upload-work.ts';
import { useDeploymentWork } from '../../modules/deployments/use-deployment-work.ts';
import { useDraftWork } from '../../modules/drafts/use-draft-work.ts';
import { useScanWork } from '../../modules/fine-tuning/readings/use-scan-work.ts';
import { useRunWork } from '../../modules/fine-tuning/runs/use-run-work.ts';
import { useGenerationWork } from '../../modules/gallery/use-generation-work.ts';
import { useCloneWork } from '../../modules/hub/clones/use-clone-work.ts';
import { usePreparationWork } from '../../modules/machines/use-preparation-work.ts';
import type { LongWork } from '../../ui/long-work.ts';

/** Returns all long-running tasks. To add a kind, add its hook here. */
export function useLongWork(): LongWork[] {
  return [
    ...useUploadWork(),
    ...useScanWork(),
    ...useRunWork(),
    ...useDeploymentWork(),
    ...useGenerationWork(),
    ...useCloneWork(),
    ...useDraftWork(),
    ...usePreparationWork(),
  ];
}

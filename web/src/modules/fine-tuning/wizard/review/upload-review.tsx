import { useQuery } from '@tanstack/react-query';
import { CircleCheck, CircleX } from 'lucide-react';
import { Callout } from '../../../../ui/callout.tsx';
import { QueryView } from '../../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../../ui/skeleton.tsx';
import { modelReadinessQuery } from '../../../datasets/asset-calls.ts';
import { AssetFileDrop } from '../../../datasets/files/asset-file-drop.tsx';
import { ModelFilesHelp } from '../../../datasets/files/model-files-help.tsx';
import { announceUpload } from '../../../datasets/files/uploads/announce-upload.ts';
import { UploadList } from '../../../datasets/files/uploads/upload-list.tsx';
import { type Upload, uploadFiles } from '../../../datasets/files/uploads/uploads.ts';
import { MODEL_FILES_HINT } from '../steps/step-upload.tsx';
import type { Wizard } from '../wizard-state.ts';

/** The server's result for an uploaded model: its uses, and missing or invalid files. */
export function UploadReview({ wizard: { modelId, uploads } }: { wizard: Wizard }) {
  return modelId && <Readiness modelId={modelId} uploads={uploads} />;
}

type ModelProps = { modelId: string; uploads: Upload[] };

function Readiness({ modelId, uploads }: ModelProps) {
  return (
    <QueryView
      query={useQuery(modelReadinessQuery(modelId))}
      failed="The files could not be checked"
      pending={
        <LoadingRegion>
          <Skeleton className="h-24 w-full" />
        </LoadingRegion>
      }
    >
      {(readiness) => <Uses {...readiness} modelId={modelId} uploads={uploads} />}
    </QueryView>
  );
}

type UsesProps = ModelProps & { deploy: string | null; train: string | null; lora: boolean };

function Uses({ deploy, train, lora, modelId, uploads }: UsesProps) {
  if (lora)
    return (
      <div className="flex flex-col gap-6">
        <ul aria-label="What the model can be used for">
          <Use can="Can be chosen as a LoRA for pictures" cannot="" obstacle={null} />
        </ul>
        <UploadList uploads={uploads} />
      </div>
    );
  return (
    <div className="flex flex-col gap-6">
      {deploy !== null && train !== null && (
        <Callout tone="warn" title="This model cannot be used yet">
          Add the missing files here, or later on the model's page.
        </Callout>
      )}
      <ul aria-label="What the model can be used for" className="flex flex-col gap-3">
        <Use can="Can be deployed" cannot="Cannot be deployed on this machine" obstacle={deploy} />
        <Use can="Can be fine-tuned" cannot="Cannot be fine-tuned" obstacle={train} />
      </ul>
      <UploadList uploads={uploads} />
      {(deploy !== null || train !== null) && (
        <AssetFileDrop
          hint={MODEL_FILES_HINT}
          help={<ModelFilesHelp />}
          onFiles={(files) => void uploadFiles(modelId, files).then(announceUpload)}
        />
      )}
    </div>
  );
}

function Use({ can, cannot, obstacle }: { can: string; cannot: string; obstacle: string | null }) {
  return (
    <li className="flex gap-3 [&>svg]:mt-0.75 [&>svg]:size-4 [&>svg]:shrink-0">
      {obstacle === null ? (
        <CircleCheck aria-hidden className="text-good" />
      ) : (
        <CircleX aria-hidden className="text-bad" />
      )}
      <div className="min-w-0 [overflow-wrap:anywhere]">
        <p className="font-medium">{obstacle === null ? can : cannot}</p>
        {obstacle !== null && <p className="text-compact text-muted">{obstacle}.</p>}
      </div>
    </li>
  );
}

import { useQuery } from '@tanstack/react-query';
import { CircleCheck, Sparkles, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { Progress } from '../../../ui/progress.tsx';
import { modelReadinessQuery } from '../../datasets/asset-calls.ts';
import { assetQuery } from '../../datasets/asset-queries.ts';
import { UploadList } from '../../datasets/files/uploads/upload-list.tsx';
import type { Upload } from '../../datasets/files/uploads/uploads.ts';
import { useRun } from '../runs/run-queries.ts';
import { phaseText } from '../runs/run-sentences.ts';
import { runEndToast } from '../runs/use-run-work.ts';
import type { Wizard } from './wizard-state.ts';

type Props = {
  wizard: Pick<Wizard, 'state' | 'modelId' | 'error' | 'uploads' | 'tryAgain'>;
  onClose: () => void;
};

/** The result with links to continue. */
export function CreateModelResult({ wizard, onClose }: Props) {
  const { error, modelId, state, uploads, tryAgain } = wizard;
  if (error || !modelId) return <Failed error={error} onTryAgain={tryAgain} onClose={onClose} />;
  const made = { name: state.name, modelId, onClose };
  return state.type === 'upload' ? <Uploaded {...made} uploads={uploads} /> : <Training {...made} />;
}

type FailedProps = { error: Error | null; onTryAgain: () => void; onClose: () => void };

function Failed({ error, onTryAgain, onClose }: FailedProps) {
  return (
    <Result
      icon={<TriangleAlert aria-hidden className="size-6" />}
      tone="bg-bad-soft text-bad"
      title="Oops! Something went wrong"
      text={error ? errorMessage(error) : 'We encountered an error while processing your request.'}
    >
      <Button variant="primary" onClick={onTryAgain}>
        Try Again
      </Button>
      <Button variant="ghost" onClick={onClose}>
        Close
      </Button>
    </Result>
  );
}

type MadeProps = { name: string; modelId: string; onClose: () => void };

function Training({ name, modelId, onClose }: MadeProps) {
  const model = useQuery(assetQuery(modelId));
  const runId = model.data?.lineage?.run_id;
  const run = useRun(runId ?? '', { enabled: runId !== undefined }).data;
  // Renders the charge again when the currency changes.
  currencyChoice.use();
  const end = run && runEndToast(run);
  const endedEarly = end && end.kind !== 'success';
  const Icon = endedEarly ? TriangleAlert : Sparkles;
  return (
    <Result
      icon={<Icon aria-hidden className="size-6" />}
      tone={endedEarly ? 'bg-warn-soft text-warn' : 'bg-good-soft text-good'}
      title={end?.title ?? 'Your model is fine-tuning!'}
      text={
        <>
          {/* The outcome's title contains the name. */}
          {!end && name}
          {/* While queued, this shows the position. */}
          <span role="status" className="mt-1 block text-ink">
            {run && (end ? end.description : phaseText(run))}
          </span>
        </>
      }
    >
      {!endedEarly && (
        <Progress value={run?.progress ?? 0} label="Training progress" className="mb-4 w-full text-left" />
      )}
      {runId ? (
        <ButtonLink variant="primary" to="/runs/$id" params={{ id: runId }} replace>
          {end ? 'View run' : 'Watch the run'}
        </ButtonLink>
      ) : (
        <ButtonLink variant="primary" to="/llm-training" replace>
          Watch the run
        </ButtonLink>
      )}
      <ManageOrClose variant="secondary" modelId={modelId} onClose={onClose} />
    </Result>
  );
}

function Uploaded({ name, modelId, uploads, onClose }: MadeProps & { uploads: Upload[] }) {
  const readiness = useQuery(modelReadinessQuery(modelId)).data;
  const missing = uploads.length > 0;
  // A model is unusable if it can neither be deployed nor trained and isn't a LoRA.
  const obstacle = readiness?.train == null || readiness.lora ? null : readiness.deploy;
  const isWanting = missing || obstacle !== null;
  const wanting = missing
    ? `${name} was created, but some of its files are missing. Try them again here, or add them on its page.`
    : `${obstacle}. You can add files on its page.`;
  return (
    <Result
      icon={<CircleCheck aria-hidden className="size-6" />}
      tone={isWanting ? 'bg-warn-soft text-warn' : 'bg-good-soft text-good'}
      title={isWanting ? 'Your model needs more files' : 'Your Model is Ready!'}
      text={isWanting ? wanting : name}
    >
      {missing && (
        <div className="mb-4 w-full text-left">
          <UploadList uploads={uploads} />
        </div>
      )}
      <ManageOrClose variant="primary" modelId={modelId} onClose={onClose} />
    </Result>
  );
}

type ButtonsProps = Pick<MadeProps, 'modelId' | 'onClose'> & { variant: 'primary' | 'secondary' };

function ManageOrClose({ modelId, onClose, variant }: ButtonsProps) {
  return (
    <>
      <ButtonLink variant={variant} to="/model/$id/description" params={{ id: modelId }} replace>
        Manage Model
      </ButtonLink>
      <Button variant="ghost" onClick={onClose}>
        Close
      </Button>
    </>
  );
}

function Result(props: {
  icon: ReactNode;
  tone: string;
  title: string;
  text: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center py-8 text-center">
      <span className={`mb-4 flex size-12 items-center justify-center rounded-full ${props.tone}`}>
        {props.icon}
      </span>
      <h2 className="font-semibold text-lg">{props.title}</h2>
      <p className="mt-2 max-w-md text-balance text-muted [overflow-wrap:anywhere]">{props.text}</p>
      <div className="mt-8 flex w-full max-w-sm flex-col gap-2">{props.children}</div>
    </div>
  );
}

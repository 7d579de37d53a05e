import { useQuery } from '@tanstack/react-query';
import { CircleCheck, Sparkles, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { errorMessage } from '../../ui/notify.ts';
import { Progress } from '../../ui/progress.tsx';
import { assetQuery, type Upload, UploadList } from '../assets/api.ts';
import type { ModelType } from './create-model-wizard-state.ts';

type Props = {
  type: ModelType;
  name: string;
  modelId: string | null;
  error: Error | null;
  failedUploads: Upload[];
  onTryAgain: () => void;
  onClose: () => void;
};

/** Step 6: what became of it, and the way to it. */
export function CreateModelResult({ type, name, modelId, error, failedUploads, onTryAgain, onClose }: Props) {
  const tuning = type === 'finetune';
  const model = useQuery({ ...assetQuery(modelId ?? ''), enabled: tuning && modelId !== null });
  const runId = model.data?.lineage?.run_id;
  if (error || !modelId) {
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
  const missing = failedUploads.length;
  return (
    <Result
      icon={
        tuning ? <Sparkles aria-hidden className="size-6" /> : <CircleCheck aria-hidden className="size-6" />
      }
      tone={missing > 0 ? 'bg-warn-soft text-warn' : 'bg-good-soft text-good'}
      title={tuning ? 'Your model is fine-tuning!' : 'Your Model is Ready!'}
      text={
        missing > 0 ? `${name} was created, but some of its files are missing. Add them on its page.` : name
      }
    >
      {tuning && <Progress value={0} label="Training progress" className="mb-4 w-full text-left" />}
      {missing > 0 && (
        <div className="mb-4 w-full text-left">
          <UploadList uploads={failedUploads} />
        </div>
      )}
      {tuning &&
        (runId ? (
          <ButtonLink variant="primary" to="/runs/$id" params={{ id: runId }}>
            Watch the run
          </ButtonLink>
        ) : (
          <ButtonLink variant="primary" to="/llm-training">
            Watch the run
          </ButtonLink>
        ))}
      <ButtonLink
        variant={tuning ? 'secondary' : 'primary'}
        to="/model/$id/description"
        params={{ id: modelId }}
      >
        Manage Model
      </ButtonLink>
      <Button variant="ghost" onClick={onClose}>
        Close
      </Button>
    </Result>
  );
}

function Result(props: { icon: ReactNode; tone: string; title: string; text: string; children: ReactNode }) {
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

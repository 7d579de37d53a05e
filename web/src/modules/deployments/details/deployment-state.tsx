import type { ImageDeployment } from '@bakehouse/contract/deployments/images';
import { deployedImageExamples } from '../../../lib/api/examples/picture-examples.ts';
import { amountsInCurrency, currencyChoice } from '../../../lib/format/currency.ts';
import { countOf } from '../../../lib/format/words.ts';
import { ButtonLink } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Card } from '../../../ui/card.tsx';
import { CodeTabs } from '../../../ui/code-block.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { type Deployment, isPending, kindRow, statusWord } from '../kinds.ts';

type Props = {
  deployment: Pick<Deployment, 'status' | 'reason' | 'stop_reason' | 'progress' | 'cost_so_far'>;
};

/** Explains why a deployment is not running, and its progress. */
export function DeploymentState({ deployment }: Props) {
  const currency = currencyChoice.use();
  const { status, reason, stop_reason, progress, cost_so_far } = deployment;
  if (isPending(deployment)) {
    return (
      <Card className="mb-6">
        <Progress value={progress} label={reason || 'Starting'} />
      </Card>
    );
  }
  if (!reason || status === 'running') return null;
  return (
    <Callout
      tone={statusWord(status) === 'failed' ? 'bad' : stop_reason === null ? 'info' : 'warn'}
      className="mb-6"
      action={
        stop_reason === 'credits' && (
          <ButtonLink to="/buy-bagels" size="sm">
            Get credits
          </ButtonLink>
        )
      }
    >
      {amountsInCurrency(reason, currency)}
      {statusWord(status) === 'failed' && Number(cost_so_far) === 0 && ' You were not charged.'}
    </Callout>
  );
}

/** The API address of an image model; hidden once it has ended. */
export function ImageAddress({ deployment }: { deployment: ImageDeployment }) {
  const { kind, model_name, inference_url, endpoint_url } = deployment;
  const { edits = false } = kindRow(kind);
  // Generate-only models have no calls of their own.
  const url = edits ? inference_url : endpoint_url;
  if (url === null) return null;
  return (
    <Card
      title="Address"
      description="Use one of your API keys as the bearer token. A request wakes the model."
    >
      <div className="flex items-center gap-2">
        <code className="min-w-0 flex-1 rounded-lg bg-subtle px-3 py-2 text-[0.8125rem] [overflow-wrap:anywhere]">
          {url}
        </code>
        <CopyButton text={url} label="Copy the address" />
      </div>
      <p className="mt-3 text-[0.8125rem] text-muted leading-5 [overflow-wrap:anywhere]">
        For OpenAI’s image API, use the model <code>{model_name}</code> and the base URL{' '}
        <code>{endpoint_url}</code>.
      </p>
      {endpoint_url !== null && (
        <div className="mt-4">
          <Disclosure title="Use from code">
            <CodeTabs examples={deployedImageExamples(endpoint_url, { model: model_name, edits })} />
          </Disclosure>
        </div>
      )}
    </Card>
  );
}

/** Returns when a future deployment sleeps. Null: never. */
export function sleepSentence(minutes: number | null): string {
  return minutes === null
    ? 'It never sleeps: you pay until you terminate it.'
    : `After ${countOf(minutes, 'minute')} without a request it sleeps and costs nothing; the next request wakes it.`;
}

/** Returns the same as a note on the time of the last request. */
export function sleepNote(minutes: number | null): string {
  return minutes === null ? 'Never sleeps' : `Sleeps after ${countOf(minutes, 'minute')} without a request`;
}

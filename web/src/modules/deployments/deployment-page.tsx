import { useParams } from '@tanstack/react-router';
import { Power, Rocket, Sparkles } from 'lucide-react';
import { useState } from 'react';
import { formatNumber } from '../../lib/format/format-number.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Disclosure } from '../../ui/disclosure.tsx';
import { Figure } from '../../ui/figure.tsx';
import { Missing } from '../../ui/missing.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { DeployDialog } from './deploy/deploy-dialog.tsx';
import { DeploymentFacts, DeploymentSummary } from './details/deployment-facts.tsx';
import { DeploymentState } from './details/deployment-state.tsx';
import { ImageAddress } from './details/image-address.tsx';
import { TextTabs } from './details/text-tabs.tsx';
import { type Deployment, type Family, families, isUsable, kindRow, statusWord } from './kinds.ts';
import { OutputPrice } from './output-price.tsx';
import { TerminateDialog } from './terminate-dialog.tsx';
import { useDeployment } from './use-deployments.ts';

export const TextDeploymentPage = () => <DeploymentPage family="text" />;
export const ImageDeploymentPage = () => <DeploymentPage family="image" />;

/** One deployment: its status, cost and usage. */
function DeploymentPage({ family }: { family: Family }) {
  const { podId = '' } = useParams({ strict: false });
  return (
    <QueryView
      query={useDeployment(family, podId)}
      failed="This deployment cannot be shown"
      pending={
        <LoadingRegion>
          <Skeleton className="mb-2 h-4 w-24" />
          <Skeleton className="mb-8 h-7 w-64 max-w-full" />
          <Skeleton className="mb-5 h-24 w-full" />
          <Skeleton className="h-72 w-full" />
        </LoadingRegion>
      }
      missing={
        <Missing
          title="Deployment not found"
          text="The link may be mistyped, or the deployment belongs to another account."
          to="/my-deployments"
          label="Go to Deploy Models"
        />
      }
    >
      {(deployment) => <LoadedPage key={deployment.pod_id} deployment={deployment} />}
    </QueryView>
  );
}

function LoadedPage({ deployment }: { deployment: Deployment }) {
  const { kind, model_id, title, status, terminated_at } = deployment;
  const { family } = kindRow(kind);
  const [asking, setAsking] = useState<'terminate' | 'deploy' | null>(null);
  const close = () => setAsking(null);
  const isText = deployment.kind === 'text';
  return (
    <>
      <PageHeader
        title={title}
        description={<DeploymentSummary deployment={deployment} />}
        parents={[{ label: 'Deploy Models', to: families[family].list }]}
        badge={<StatusBadge status={statusWord(status)} />}
        actions={
          terminated_at === null ? (
            <>
              {isUsable(deployment) && <UseLink deployment={deployment} />}
              <Button onClick={() => setAsking('terminate')}>
                <Power aria-hidden />
                Terminate
              </Button>
            </>
          ) : (
            <Button variant="primary" onClick={() => setAsking('deploy')}>
              <Rocket aria-hidden />
              Deploy again
            </Button>
          )
        }
      />
      <DeploymentState deployment={deployment} />
      {isText ? (
        <TextTabs pod={deployment} details={<Facts deployment={deployment} />} />
      ) : (
        <div className="grid gap-5">
          <ImageAddress deployment={deployment} />
          <Disclosure title="Details">
            <Facts deployment={deployment} />
          </Disclosure>
        </div>
      )}
      {asking === 'terminate' && <TerminateDialog deployment={deployment} onClose={close} />}
      {asking === 'deploy' && (
        <DeployDialog family={family} chosen={model_id} chosenKind={kind} onClose={close} />
      )}
    </>
  );
}

function describeReading({ context_tokens: tokens, vision }: Extract<Deployment, { kind: 'text' }>): string {
  return `context of ${formatNumber(tokens)} tokens${vision ? ', reads pictures' : ''}`;
}

/** Facts about a deployment, including those specific to its kind. */
function Facts({ deployment }: { deployment: Deployment }) {
  const { kind } = deployment;
  const isText = deployment.kind === 'text';
  const { label, does } = kindRow(kind);
  return (
    <DeploymentFacts
      deployment={deployment}
      kind={
        isText ? (
          <Figure label="Base" note={describeReading(deployment)}>
            {deployment.base_model_title}
          </Figure>
        ) : (
          <Figure label="Kind" note={does}>
            {label}
          </Figure>
        )
      }
      priceNote={
        <>
          {deployment.max_replicas > 1 ? 'per replica' : 'while it is awake'}
          {!isText && <OutputPrice kind={kind} />}
        </>
      }
      costNote={!isText && 'excluding pictures'}
    />
  );
}

/** Links to the page that uses the deployment, if that is another page. */
function UseLink({ deployment: { kind, model_name } }: { deployment: Deployment }) {
  const { use } = kindRow(kind);
  if (!use) return null;
  return (
    <ButtonLink to={use.to} search={{ model: model_name }} variant="primary">
      <Sparkles aria-hidden />
      {use.label}
    </ButtonLink>
  );
}

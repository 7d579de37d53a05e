import type { ImageDeployment } from '@bakehouse/contract/deployments/images';
import { getRouteApi } from '@tanstack/react-router';
import { ImagePlus, ImageUp, Power, Rocket } from 'lucide-react';
import { useState } from 'react';
import { deployedImageExamples } from '../../../lib/api/examples/picture-examples.ts';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CodeTabs } from '../../../ui/code-block.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { Figure } from '../../../ui/figure.tsx';
import { Missing } from '../../../ui/missing.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { DeploymentFacts } from '../details/deployment-facts.tsx';
import { DeploymentState } from '../details/deployment-state.tsx';
import { useImageDeployment } from './calls.ts';
import { DeployImageDialog } from './deploy-image-dialog.tsx';
import { imageKinds, pending, statusWord, usable } from './kinds.ts';
import { PicturePrice } from './picture-price.tsx';
import { TerminateImageDialog } from './terminate-image-dialog.tsx';

const route = getRouteApi('/app/my-deployments/images/$podId');

/** One deployment of an image model: how far it is, what it costs, and where programs reach it. */
export function ImageDeploymentPage() {
  const { podId } = route.useParams();
  return (
    <QueryView
      query={useImageDeployment(podId)}
      failed="This deployment cannot be shown"
      pending={
        <LoadingRegion>
          <Skeleton className="mb-2 h-4 w-24" />
          <Skeleton className="mb-8 h-7 w-64 max-w-full" />
          <Skeleton className="mb-6 h-24 w-full" />
          <Skeleton className="h-40 w-full" />
        </LoadingRegion>
      }
      missing={
        <Missing
          title="There is no such deployment"
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

function LoadedPage({ deployment }: { deployment: ImageDeployment }) {
  const [asking, setAsking] = useState<'terminate' | 'deploy' | null>(null);
  const close = () => setAsking(null);
  const { kind, model_id, title, status, terminated_at } = deployment;
  return (
    <>
      <PageHeader
        title={title}
        parents={[{ label: 'Deploy Models', to: '/my-deployments/images' }]}
        badge={<StatusBadge status={statusWord(status)} />}
        actions={
          terminated_at === null ? (
            <>
              {usable.has(status) && <WayIn deployment={deployment} />}
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
      <DeploymentState deployment={deployment} isPending={pending.has(status)} />
      <DeploymentFacts
        deployment={deployment}
        kind={
          <Figure label="Kind" note={imageKinds[kind].does}>
            {imageKinds[kind].label}
          </Figure>
        }
        priceNote={
          <>
            while it is awake
            <PicturePrice kind={kind} />
          </>
        }
        costNote="without its pictures"
      />
      <Address deployment={deployment} />
      {asking === 'terminate' && <TerminateImageDialog deployment={deployment} onClose={close} />}
      {asking === 'deploy' && <DeployImageDialog chosen={model_id} chosenKind={kind} onClose={close} />}
    </>
  );
}

/** To the page where people use it. */
function WayIn({ deployment: { kind, model_name } }: { deployment: ImageDeployment }) {
  return kind === 'flux-kontext' ? (
    <ButtonLink to="/flux-kontext" search={{ model: model_name }} variant="primary">
      <ImageUp aria-hidden />
      Edit a picture
    </ButtonLink>
  ) : (
    <ButtonLink to={`/${kind}`} search={{ model: model_name }} variant="primary">
      <ImagePlus aria-hidden />
      Generate with it
    </ButtonLink>
  );
}

/** Where programs reach it; gone once it has ended. */
function Address({ deployment }: { deployment: ImageDeployment }) {
  const { kind, model_name, inference_url, endpoint_url } = deployment;
  const { edits } = imageKinds[kind];
  // What only generates has no calls of its own.
  const url = edits ? inference_url : endpoint_url;
  if (url === null) return null;
  return (
    <Card
      title="Address"
      description="For your programs, with one of your API keys as the bearer token. A request wakes the model if it is asleep."
    >
      <div className="flex items-center gap-2">
        <code className="min-w-0 flex-1 rounded-lg bg-subtle px-3 py-2 text-[0.8125rem] [overflow-wrap:anywhere]">
          {url}
        </code>
        <CopyButton text={url} label="Copy the address" />
      </div>
      <p className="mt-3 text-[0.8125rem] text-muted leading-5 [overflow-wrap:anywhere]">
        OpenAI’s image calls take the model <code>{model_name}</code>, with <code>{endpoint_url}</code> as the
        base URL.
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

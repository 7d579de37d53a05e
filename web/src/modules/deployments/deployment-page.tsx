import type { Deployment } from '@bakehouse/contract/deployments/text';
import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import { Power } from 'lucide-react';
import { useState } from 'react';
import { apiExamples } from '../../lib/api/examples/chat-examples.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CodeTabs } from '../../ui/code-block.tsx';
import { Figure } from '../../ui/figure.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { DeployButton, useDeployment } from './api.ts';
import { ChatTab } from './chat/chat-tab.tsx';
import { DeploymentLog } from './deployment-log.tsx';
import { DeploymentMetrics } from './deployment-metrics.tsx';
import { DeploymentFacts } from './details/deployment-facts.tsx';
import { DeploymentState } from './details/deployment-state.tsx';
import { deploymentKinds } from './kinds.ts';
import { priceNote, replicasNote } from './replicas-note.ts';
import { TerminateDialog } from './terminate-dialog.tsx';

const route = getRouteApi('/app/my-deployments/$podId');

const KIND = 'text';
const { pending, ended, words } = deploymentKinds[KIND];

export function DeploymentPage() {
  const { podId } = route.useParams();
  return (
    <QueryView
      query={useDeployment(KIND, podId)}
      failed="This deployment cannot be shown"
      pending={
        <LoadingRegion>
          <Skeleton className="mb-2 h-4 w-24" />
          <Skeleton className="mb-8 h-7 w-64 max-w-full" />
          <Skeleton className="mb-5 h-24 w-full" />
          <Skeleton className="h-72 w-full" />
        </LoadingRegion>
      }
      // It may serve an image model: what names a deployment by its id, as a notification, does not say.
      missing={<Navigate to="/my-deployments/images/$podId" params={{ podId }} replace />}
    >
      {(pod) => <LoadedPage pod={pod} />}
    </QueryView>
  );
}

function LoadedPage({ pod }: { pod: Deployment }) {
  const { tab = 'chat' } = route.useSearch();
  const navigate = route.useNavigate();
  const [asking, setAsking] = useState(false);
  const over = ended.has(pod.status);

  return (
    <>
      <PageHeader
        title={pod.title}
        parents={[{ label: words.title, to: '/my-deployments' }]}
        badge={<StatusBadge status={pod.status} />}
        actions={
          over ? (
            <DeployButton modelId={pod.model_id} label="Deploy again" />
          ) : (
            <Button onClick={() => setAsking(true)}>
              <Power aria-hidden />
              Terminate
            </Button>
          )
        }
      />
      <DeploymentState deployment={pod} isPending={pending.has(pod.status)} />
      <DeploymentFacts
        deployment={pod}
        kind={<Figure label="Base">{pod.base_model_title}</Figure>}
        deviceNote={replicasNote(pod)}
        priceNote={priceNote(pod)}
      />
      <Tabs
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next }, replace: true })}
        tabs={[
          {
            value: 'chat',
            label: 'Playground',
            keepMounted: true,
            content: <ChatTab pod={pod} />,
          },
          {
            value: 'code',
            label: 'Code',
            content: <CodeTab pod={pod} />,
          },
          {
            value: 'metrics',
            label: 'Metrics',
            content: <DeploymentMetrics kind={KIND} podId={pod.pod_id} />,
          },
          { value: 'log', label: 'Log', content: <DeploymentLog kind={KIND} podId={pod.pod_id} /> },
        ]}
      />
      <TerminateDialog kind={KIND} pod={pod} open={asking} onClose={() => setAsking(false)} />
    </>
  );
}

function CodeTab({ pod }: { pod: Deployment }) {
  return (
    <Card
      title="Call it from your programs"
      description={
        <>
          Any OpenAI client works. Put your key from the{' '}
          <Link to="/api-key" className="text-accent-text underline underline-offset-2">
            API-Key page
          </Link>{' '}
          into the environment variable <code>BAKEHOUSE_API_KEY</code> first.
        </>
      }
    >
      <CodeTabs examples={apiExamples(window.location.origin, pod.model_name)} />
    </Card>
  );
}

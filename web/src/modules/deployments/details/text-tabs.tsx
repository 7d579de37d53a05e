import type { Deployment } from '@bakehouse/contract/deployments/text';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { apiExamples } from '../../../lib/api/examples/chat-examples.ts';
import { embeddingExamples } from '../../../lib/api/examples/embedding-examples.ts';
import { Card } from '../../../ui/card.tsx';
import { CodeTabs } from '../../../ui/code-block.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { AgentSettings } from '../../chat/agent-settings.tsx';
import { ChatTab } from '../../chat/chat-tab.tsx';
import type { Opened } from '../../chat/playground.tsx';
import { DeploymentLog } from './deployment-log.tsx';
import { DeploymentMetrics } from './deployment-metrics.tsx';

/** Tabs of a text or embedding model: usage and health. */
export function TextTabs({ pod, details }: { pod: Deployment; details: ReactNode }) {
  const isChat = pod.task === 'text';
  const { tab = isChat ? 'chat' : 'code', conversation }: { tab?: string; conversation?: string } = useSearch(
    {
      strict: false,
    },
  );
  const navigate = useNavigate();
  const opened: Opened = {
    conversation,
    onOpen: (id, how) => void navigate({ to: '.', search: { conversation: id }, replace: how === 'replace' }),
  };
  const open = (next: string) =>
    void navigate({ to: '.', search: { tab: next, ...(conversation && { conversation }) }, replace: true });
  return (
    <Tabs
      value={tab}
      onChange={open}
      tabs={[
        ...(isChat
          ? [
              {
                value: 'chat',
                label: 'Playground',
                keepMounted: true,
                content: <ChatTab {...{ pod, opened }} />,
              },
            ]
          : []),
        { value: 'code', label: 'Code', content: <CodeTab pod={pod} /> },
        { value: 'metrics', label: 'Metrics', content: <DeploymentMetrics podId={pod.pod_id} /> },
        { value: 'log', label: 'Log', content: <DeploymentLog podId={pod.pod_id} /> },
        { value: 'details', label: 'Details', content: details },
      ]}
    />
  );
}

function CodeTab({ pod }: { pod: Deployment }) {
  const isEmbedding = pod.task === 'embedding';
  return (
    <div className="flex flex-col gap-5">
      <ProgramCard pod={pod} examples={isEmbedding ? embeddingExamples : apiExamples} />
      {!isEmbedding && (
        <Card
          title="Use from an agent"
          description={
            <>
              Claude Code, with the key in <code>BAKEHOUSE_API_KEY</code> as above.
            </>
          }
        >
          <AgentSettings modelName={pod.model_name} />
        </Card>
      )}
    </div>
  );
}

function ProgramCard({ pod, examples }: { pod: Deployment; examples: typeof embeddingExamples }) {
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
      <CodeTabs examples={examples(window.location.origin, pod.model_name)} />
    </Card>
  );
}

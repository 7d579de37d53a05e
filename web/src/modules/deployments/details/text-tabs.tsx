import type { Deployment } from '@bakehouse/contract/deployments/text';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { apiExamples, claudeCodeExample } from '../../../lib/api/examples/chat-examples.ts';
import { embeddingExamples } from '../../../lib/api/examples/embedding-examples.ts';
import { axisDecimals } from '../../../lib/format/axis-decimals.ts';
import { Card } from '../../../ui/card.tsx';
import { Chart } from '../../../ui/chart.tsx';
import type { ChartProps } from '../../../ui/chart-plot.ts';
import { CodeBlock, CodeTabs } from '../../../ui/code-block.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { LogView } from '../../../ui/log-view.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { ChatTab } from '../chat/chat-tab.tsx';
import type { Opened } from '../chat/playground.tsx';
import { type MetricsPoint, useDeploymentLogs, useDeploymentMetrics } from '../use-deployments.ts';
import { everyMinute } from './every-minute.ts';

const milliseconds: ChartProps['formatY'] = (value, axis) =>
  `${value.toFixed(axis ? axisDecimals(axis.step) : 0)} ms`;

/** Tabs of a text or embedding model: usage and health. */
export function TextTabs({ pod }: { pod: Deployment }) {
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

/** The end of the model server's log. */
function DeploymentLog({ podId }: { podId: string }) {
  return (
    <QueryView
      query={useDeploymentLogs(podId)}
      failed="The log could not be loaded"
      pending={
        <LoadingRegion>
          <Skeleton className="h-80 w-full rounded-xl" />
        </LoadingRegion>
      }
      isEmpty={({ lines }) => lines.length === 0}
      empty={
        <Card>
          <EmptyState title="No lines yet" description="The model server has not logged anything." />
        </Card>
      }
    >
      {({ lines }) => <LogView lines={lines} />}
    </QueryView>
  );
}

/** Requests, latency and speed of the last hour by minute. */
function DeploymentMetrics({ podId }: { podId: string }) {
  const metrics = useDeploymentMetrics(podId);
  return (
    <QueryView
      query={metrics}
      failed="The metrics could not be loaded"
      pending={
        <LoadingRegion className="grid gap-5 lg:grid-cols-2">
          <Skeleton className="h-64" />
          <Skeleton className="h-64" />
        </LoadingRegion>
      }
      isEmpty={({ points }) => points.length === 0}
      empty={
        <Card>
          <EmptyState
            title="No requests in the last hour"
            description="Ask it something in the playground."
          />
        </Card>
      }
    >
      {({ points }) => <Charts points={points} readAt={metrics.dataUpdatedAt} />}
    </QueryView>
  );
}

function Charts({ points, readAt }: { points: MetricsPoint[]; readAt: number }) {
  const { x, minutes } = everyMinute(points, readAt);
  return (
    <div className="grid gap-5 lg:grid-cols-2">
      <Card title="Requests per minute">
        <Chart
          label="Requests per minute"
          x={x}
          time
          kind="stacked-bars"
          series={[
            {
              label: 'Answered',
              values: minutes.map((point) => (point ? point.requests - point.errors : 0)),
            },
            { label: 'Failed', values: minutes.map((point) => point?.errors ?? 0), color: 5 },
          ]}
        />
      </Card>
      <Card title="Time to first token">
        <Chart
          label="Time to first token, median"
          x={x}
          time
          series={[
            { label: 'Median', values: minutes.map((point) => point?.time_to_first_token_ms_p50 ?? null) },
          ]}
          formatY={milliseconds}
        />
      </Card>
      <Card title="Latency">
        <Chart
          label="Latency, median and 95th percentile"
          x={x}
          time
          series={[
            { label: 'Median', values: minutes.map((point) => point?.latency_ms_p50 ?? null) },
            { label: '95th percentile', values: minutes.map((point) => point?.latency_ms_p95 ?? null) },
          ]}
          formatY={milliseconds}
        />
      </Card>
      <Card title="Tokens per second">
        <Chart
          label="Tokens per second of one answer"
          x={x}
          time
          series={[{ label: 'Tokens/s', values: minutes.map((point) => point?.tokens_per_second ?? null) }]}
        />
      </Card>
    </div>
  );
}

/** Claude Code settings for a model, and a link to those for other agents. */
export function AgentSettings({ modelName }: { modelName: string }) {
  return (
    <>
      <CodeBlock code={claudeCodeExample(window.location.origin, modelName)} label="Claude Code" />
      <p className="mt-3 text-[0.8125rem] text-muted">
        For Codex CLI, OpenCode and others, see{' '}
        <Link
          to="/docs/$"
          params={{ _splat: 'coding-agents' }}
          className="text-accent-text underline underline-offset-2"
        >
          Coding agents and clients
        </Link>
        .
      </p>
    </>
  );
}

import {
  type Deployment,
  deployVllm,
  listVllm,
  quoteVllm,
  terminatePod,
  vllmLogs,
  vllmMetrics,
  vllmStats,
  vllmStatus,
} from '@bakehouse/contract/deployments/text';
import type { ResponseOf } from '@bakehouse/contract/endpoint';

/** What a deployment of each kind is called by, and what its pages say. Another kind is another row. */
export const deploymentKinds = {
  text: {
    calls: {
      deploy: deployVllm,
      quote: quoteVllm,
      list: listVllm,
      stats: vllmStats,
      status: vllmStatus,
      logs: vllmLogs,
      metrics: vllmMetrics,
      terminate: terminatePod,
    },
    /** States in which it answers, or wakes to. */
    usable: new Set<Deployment['status']>(['running', 'degraded', 'sleeping']),
    pending: new Set<Deployment['status']>(['queued', 'deploying']),
    ended: new Set<Deployment['status']>(['terminated', 'failed']),
    words: {
      title: 'Deploy Models',
      about:
        'Models that answer here and in your own programs. You pay for the time they are awake, and for the tokens they read and write.',
      deploy: 'Deploy a model',
      deployAbout: 'It answers here and in your programs until you terminate it.',
      none: 'Nothing is deployed',
      noneAbout: 'Deploy a model to chat with it here and call it with any OpenAI client.',
      initiated: 'Model deployment initiated successfully',
      completed: 'Model deployment completed successfully!',
      failed: 'Model deployment failed',
    },
  },
} as const;

export type KindName = keyof typeof deploymentKinds;

/** A minute of the charts. */
export type MetricsPoint = ResponseOf<typeof deploymentKinds.text.calls.metrics>['points'][number];

/** A deployment's id in the list of long work. */
export function workId(podId: string): string {
  return `deployment-${podId}`;
}

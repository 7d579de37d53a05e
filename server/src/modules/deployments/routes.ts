import * as chat from '@bakehouse/contract/chat';
import * as contract from '@bakehouse/contract/deployments';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { answerCompletion } from './answer-completion.ts';
import { deployVllm } from './deploy-vllm.ts';
import { getVllmLogs } from './get-vllm-logs.ts';
import { getVllmMetrics } from './get-vllm-metrics.ts';
import { getVllmProgress } from './get-vllm-progress.ts';
import { getVllmStats } from './get-vllm-stats.ts';
import { getModel, listModels } from './list-models.ts';
import { listVllm } from './list-vllm.ts';
import { readDeployment } from './read-deployment.ts';
import type { ServingParts } from './serving-parts.ts';
import { terminatePod } from './terminate-pod.ts';

export function deploymentsRoutes(parts: ServingParts): Binding[] {
  return [
    bind(contract.deployVllm, (ctx, input) => deployVllm(ctx, parts, input)),
    bind(contract.listVllm, listVllm),
    bind(contract.vllmStats, (ctx) => getVllmStats(ctx)),
    bind(contract.vllmStatus, (ctx, { params }) =>
      readDeployment(ctx, { userId: ctx.caller.userId, podId: params.podId }),
    ),
    bind(contract.vllmProgress, getVllmProgress),
    bind(contract.vllmLogs, getVllmLogs),
    bind(contract.vllmMetrics, getVllmMetrics),
    bind(contract.terminatePod, terminatePod),
    bind(chat.listModels, (ctx) => listModels(ctx)),
    bind(chat.getModel, getModel),
    bind(chat.chatCompletions, (ctx, { body }, http) =>
      answerCompletion(ctx, parts, '/v1/chat/completions', body, http),
    ),
    bind(chat.completions, (ctx, { body }, http) =>
      answerCompletion(ctx, parts, '/v1/completions', body, http),
    ),
  ];
}

import * as contract from '@bakehouse/contract/judgements';
import { type Binding, bind } from '../../platform/http/bind.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { cancelJudgement } from './change-judgements.ts';
import { quoteJudgement } from './quote-judgement.ts';
import { findJudgement } from './read-judgements.ts';
import { startJudgement } from './start-judgement.ts';

/** Each looks for the model, and may start its server. */
const QUOTES_PER_MINUTE = 60;

/** Whether a fine-tune answers better than its base, by a model that judges. */
export function judgementsRoutes(chat: ChatParts): Binding[] {
  return [
    bind(contract.getJudgement, async (ctx, { params }) => ({
      judgement: await findJudgement(ctx, params.runId),
    })),
    bind(
      contract.quoteJudgement,
      (ctx, { params, body }) => quoteJudgement(ctx, chat, { runId: params.runId, settings: body.settings }),
      { callsPerMinute: QUOTES_PER_MINUTE },
    ),
    bind(contract.startJudgement, (ctx, { params, body }) =>
      startJudgement(ctx, chat, { runId: params.runId, settings: body.settings }),
    ),
    bind(contract.cancelJudgement, (ctx, { params }) => cancelJudgement(ctx, params.runId)),
  ];
}

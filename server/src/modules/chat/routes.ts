import * as chat from '@bakehouse/contract/chat';
import * as conversations from '@bakehouse/contract/conversations';
import { vllmMetrics } from '@bakehouse/contract/deployments/text';
import { createEmbeddings } from '@bakehouse/contract/embeddings';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { answerCompletion } from './answer-completion.ts';
import type { ChatParts } from './chat-parts.ts';
import { deleteConversation, getConversation, saveConversation } from './conversations/conversations.ts';
import { answerEmbeddings } from './embeddings/answer-embeddings.ts';
import { getModel, listModels } from './list-models.ts';
import { readMetrics } from './read-metrics.ts';

export function chatRoutes(parts: ChatParts): Binding[] {
  return [
    bind(vllmMetrics, readMetrics),
    bind(chat.listModels, (ctx) => listModels(ctx)),
    bind(chat.getModel, getModel),
    bind(chat.chatCompletions, (ctx, { body }, http) =>
      answerCompletion(ctx, parts, '/v1/chat/completions', body, http),
    ),
    bind(createEmbeddings, (ctx, input, http) => answerEmbeddings(ctx, parts, input, http)),
    bind(conversations.getConversation, getConversation),
    bind(conversations.saveConversation, saveConversation),
    bind(conversations.deleteConversation, deleteConversation),
    bind(chat.completions, (ctx, { body }, http) =>
      answerCompletion(ctx, parts, '/v1/completions', body, http),
    ),
  ];
}

import * as chat from '@bakehouse/contract/chat';
import * as conversations from '@bakehouse/contract/conversations';
import { vllmMetrics } from '@bakehouse/contract/deployments/text';
import { createEmbeddings } from '@bakehouse/contract/embeddings';
import * as responses from '@bakehouse/contract/responses';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { answerCompletion } from './answer-completion.ts';
import type { ChatParts } from './chat-parts.ts';
import { deleteConversation, getConversation, saveConversation } from './conversations/conversations.ts';
import { answerEmbeddings } from './embeddings/answer-embeddings.ts';
import { getModel, listModels } from './list-models.ts';
import { readMetrics } from './read-metrics.ts';
import { createResponse } from './responses/create-response.ts';
import { deleteResponse, getResponse, listInputItems } from './responses/kept-responses.ts';

export function chatRoutes(parts: ChatParts): Binding[] {
  return [
    bind(vllmMetrics, readMetrics),
    bind(chat.listModels, (ctx) => listModels(ctx)),
    bind(chat.getModel, getModel),
    bind(chat.chatCompletions, (ctx, { body }, http) =>
      answerCompletion(ctx, parts, { path: '/v1/chat/completions', body }, http),
    ),
    bind(createEmbeddings, (ctx, input, http) => answerEmbeddings(ctx, parts, input, http)),
    bind(responses.createResponse, (ctx, input, http) => createResponse(ctx, parts, input, http)),
    bind(responses.getResponse, getResponse),
    bind(responses.deleteResponse, deleteResponse),
    bind(responses.listInputItems, listInputItems),
    bind(conversations.getConversation, getConversation),
    bind(conversations.saveConversation, saveConversation),
    bind(conversations.deleteConversation, deleteConversation),
    bind(chat.completions, (ctx, { body }, http) =>
      answerCompletion(ctx, parts, { path: '/v1/completions', body }, http),
    ),
  ];
}

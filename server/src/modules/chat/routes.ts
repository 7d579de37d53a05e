import * as chat from '@bakehouse/contract/chat';
import * as conversations from '@bakehouse/contract/conversations';
import { vllmMetrics } from '@bakehouse/contract/deployments/text';
import { createEmbeddings } from '@bakehouse/contract/embeddings';
import * as responses from '@bakehouse/contract/responses';
import { type Binding, type BindOptions, bind } from '../../platform/http/bind.ts';
import { admitBody, assertAdmissible } from './admit-request.ts';
import { completeChat } from './answer-completion.ts';
import type { ChatParts } from './chat-parts.ts';
import {
  deleteConversation,
  getConversation,
  listConversations,
  saveConversation,
} from './conversations/conversations.ts';
import { answerEmbeddings } from './embeddings/answer-embeddings.ts';
import { readMetrics } from './list-models.ts';
import { countResponseTokens, createResponse } from './responses/create-response.ts';
import { deleteResponse, getResponse, listInputItems } from './responses/responses.ts';

/** Checked before the body is read, so that callers above their limit do not send it. */
const asksModel: BindOptions = { beforeBody: (ctx, { userId }) => assertAdmissible(ctx, userId) };

const maySendPictures: BindOptions = {
  beforeBody: (ctx, { userId }, bytes) => admitBody(ctx, userId, bytes),
};

export function chatRoutes(parts: ChatParts): Binding[] {
  return [
    bind(vllmMetrics, readMetrics),
    bind(
      chat.chatCompletions,
      (ctx, { body }, { client }) =>
        completeChat(ctx, parts, { path: '/v1/chat/completions', body }, client.signal),
      maySendPictures,
    ),
    bind(
      createEmbeddings,
      (ctx, input, { client }) => answerEmbeddings(ctx, parts, input, client.signal),
      asksModel,
    ),
    bind(
      responses.createResponse,
      (ctx, input, { client }) => createResponse(ctx, parts, input, client.signal),
      maySendPictures,
    ),
    bind(
      responses.countResponseTokens,
      (ctx, input, { client }) => countResponseTokens(ctx, parts, input, client.signal),
      maySendPictures,
    ),
    bind(responses.getResponse, getResponse),
    bind(responses.deleteResponse, deleteResponse),
    bind(responses.listInputItems, listInputItems),
    bind(conversations.listConversations, listConversations),
    bind(conversations.getConversation, getConversation),
    bind(conversations.saveConversation, saveConversation),
    bind(conversations.deleteConversation, deleteConversation),
    bind(
      chat.completions,
      (ctx, { body }, { client }) =>
        completeChat(ctx, parts, { path: '/v1/completions', body }, client.signal),
      asksModel,
    ),
  ];
}

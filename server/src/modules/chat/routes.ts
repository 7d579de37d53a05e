import * as chat from '@bakehouse/contract/chat';
import * as conversations from '@bakehouse/contract/conversations';
import { vllmMetrics } from '@bakehouse/contract/deployments/text';
import { createEmbeddings } from '@bakehouse/contract/embeddings';
import * as messages from '@bakehouse/contract/messages';
import * as responses from '@bakehouse/contract/responses';
import { type Binding, type BindOptions, bind } from '../../platform/http/bind.ts';
import { assertAdmissible } from './admit-request.ts';
import { completeChat } from './answer-completion.ts';
import type { ChatParts } from './chat-parts.ts';
import {
  deleteConversation,
  getConversation,
  listConversations,
  saveConversation,
} from './conversations/conversations.ts';
import { answerEmbeddings } from './embeddings/answer-embeddings.ts';
import { answerModels, getModel, readMetrics } from './list-models.ts';
import { countTokens, createMessage } from './messages/create-message.ts';
import { describeAnthropicError, describeEitherError } from './messages/describe-anthropic-error.ts';
import { countResponseTokens, createResponse } from './responses/create-response.ts';
import { deleteResponse, getResponse, listInputItems } from './responses/responses.ts';

/** Reject callers over their limit before they send a body. */
const asksModel: BindOptions = { beforeBody: (ctx, { userId }) => assertAdmissible(ctx, userId) };

const asAnthropic: BindOptions = { ...asksModel, describeError: describeAnthropicError };
const asEither: BindOptions = { describeError: describeEitherError };

export function chatRoutes(parts: ChatParts): Binding[] {
  return [
    bind(vllmMetrics, readMetrics),
    bind(chat.listModels, (ctx, _, http) => answerModels(ctx, http), asEither),
    bind(chat.getModel, getModel, asEither),
    bind(
      chat.chatCompletions,
      (ctx, { body }, http) => completeChat(ctx, parts, { path: '/v1/chat/completions', body }, http),
      asksModel,
    ),
    bind(createEmbeddings, (ctx, input, http) => answerEmbeddings(ctx, parts, input, http), asksModel),
    bind(responses.createResponse, (ctx, input, http) => createResponse(ctx, parts, input, http), asksModel),
    bind(
      responses.countResponseTokens,
      (ctx, input, http) => countResponseTokens(ctx, parts, input, http),
      asksModel,
    ),
    bind(messages.createMessage, (ctx, input, http) => createMessage(ctx, parts, input, http), asAnthropic),
    bind(messages.countTokens, (ctx, input, http) => countTokens(ctx, parts, input, http), asAnthropic),
    bind(responses.getResponse, getResponse),
    bind(responses.deleteResponse, deleteResponse),
    bind(responses.listInputItems, listInputItems),
    bind(conversations.listConversations, listConversations),
    bind(conversations.getConversation, getConversation),
    bind(conversations.saveConversation, saveConversation),
    bind(conversations.deleteConversation, deleteConversation),
    bind(
      chat.completions,
      (ctx, { body }, http) => completeChat(ctx, parts, { path: '/v1/completions', body }, http),
      asksModel,
    ),
  ];
}

import * as chat from '@bakehouse/contract/chat';
import * as messages from '@bakehouse/contract/messages';
import { admitBody } from '../../modules/chat/admit-request.ts';
import type { ChatParts } from '../../modules/chat/chat-parts.ts';
import { type Binding, type BindOptions, bind, type Http } from '../../platform/http/bind.ts';
import { headerText } from '../../platform/http/callers/find-caller.ts';
import { countTokens, createMessage, type MessageCall } from './create-message.ts';
import { describeAnthropicError, describeEitherError, isForAnthropic } from './describe-anthropic-error.ts';
import { answerModel, answerModels } from './models.ts';

/** Rejects callers above their limit before the body is read. */
const asksModel: BindOptions = {
  beforeBody: (ctx, { userId }, bytes) => admitBody(ctx, userId, bytes),
  describeError: describeAnthropicError,
};

const asEither: BindOptions = { describeError: describeEitherError };

/** Anthropic's Messages API, and the list of models, which has the same path in OpenAI's API. */
export function anthropicRoutes(parts: ChatParts): Binding[] {
  return [
    bind(chat.listModels, (ctx, _, { request }) => answerModels(ctx, isForAnthropic(request)), asEither),
    bind(
      chat.getModel,
      (ctx, { params }, { request }) => answerModel(ctx, params.model, isForAnthropic(request)),
      asEither,
    ),
    bind(
      messages.createMessage,
      (ctx, input, http) => createMessage(ctx, parts, input, messageCall(http)),
      asksModel,
    ),
    bind(
      messages.countTokens,
      (ctx, input, http) => countTokens(ctx, parts, input, messageCall(http)),
      asksModel,
    ),
  ];
}

function messageCall({ request, client }: Http): MessageCall {
  return { version: headerText(request.headers['anthropic-version']), client: client.signal };
}

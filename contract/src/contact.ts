import * as z from 'zod';
import { userId } from './accounts.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { text } from './fields/text.ts';
import { MESSAGE_LENGTH_MAX, SUBJECT_LENGTH_MAX } from './limits.ts';

export const contactUs = endpoint({
  method: 'POST',
  path: '/api/v1/contact-us',
  access: 'key',
  operation: 'send your message',
  summary: 'Send a message to the operators',
  spends: true,
  body: only({
    user_id: userId,
    subject: text('Subject', SUBJECT_LENGTH_MAX)
      .min(1, 'Subject is required')
      .regex(/^[^\r\n]*$/, 'Subject must be one line'),
    message: text('Message', MESSAGE_LENGTH_MAX).min(1, 'Message is required'),
  }),
  response: z.object({ message_id: z.string() }),
});

const messageStatuses = ['new', 'read', 'answered'] as const;

export const contactMessage = z.object({
  message_id: z.string(),
  user_id: z.string(),
  username: z.string(),
  email: z.string(),
  subject: z.string(),
  message: z.string(),
  status: z.enum(messageStatuses),
  created_at: z.string(),
});

export type ContactMessage = z.infer<typeof contactMessage>;

export const listMessages = endpoint({
  method: 'GET',
  path: '/api/v1/operator/messages',
  access: 'operator',
  summary: 'List messages to the operators, newest first',
  query: z.object({
    status: z.enum(messageStatuses, `status must be one of ${messageStatuses.join(', ')}`).optional(),
    limit: z.coerce.number().int().min(1).max(200).default(50),
    cursor: idOf('message').optional(),
  }),
  response: z.object({ messages: z.array(contactMessage), next_cursor: z.string().nullable() }),
});

export const changeMessage = endpoint({
  method: 'PATCH',
  path: '/api/v1/operator/messages/:messageId',
  access: 'operator',
  summary: 'Mark a message as new, read or answered',
  params: z.object({ messageId: idOf('message') }),
  body: only({ status: z.enum(messageStatuses, `status must be one of ${messageStatuses.join(', ')}`) }),
  response: contactMessage,
});

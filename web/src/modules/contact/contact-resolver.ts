import { contactForm } from '@bakehouse/contract/contact';
import { zodResolver } from '@hookform/resolvers/zod';
import * as z from 'zod';

/** The server's own rules for a message. */
export const contactResolver = zodResolver(z.object(contactForm));

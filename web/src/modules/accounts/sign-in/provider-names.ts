/** The names of those who can vouch for a person. */
export const providerNames = { github: 'GitHub', google: 'Google' };

/** Who asks. */
export const WHO = ['nobody', 'other_workspace', 'free_plan', 'revoked_key', 'expired_key', 'wrong_scope', 'member', 'reviewer', 'admin'] as const;
export type Who = (typeof WHO)[number];

/** `in` for whoever is let in, else the code of the problem that keeps them out. */
export type Outcomes = Record<Who, string>;

/** One way to ask a route; a route may have several. `$public` and the like stand for what the test has made. */
export interface Case {
  params?: Record<string, string>;
  query?: string;
  payload?: unknown;
  outcomes: Outcomes;
}

/** Not even a wrong key keeps somebody out. */
const everybody = outcomes({ free_plan: 'in', revoked_key: 'in', expired_key: 'in' });
/** Nobody needs a key; a wrong one is refused. */
const open = outcomes({});
/** Whoever has a key with the scope. */
const scoped = outcomes({ nobody: 'authentication_required', wrong_scope: 'insufficient_scope' });

function outcomes(differing: Partial<Outcomes>): Outcomes {
  return {
    nobody: 'in', other_workspace: 'in', free_plan: 'plan_required', revoked_key: 'invalid_credentials', expired_key: 'invalid_credentials', wrong_scope: 'in', member: 'in', reviewer: 'in', admin: 'in',
    ...differing,
  };
}

/** Only the client's own registration access token is accepted; the error has the body of RFC 6750. */
const registered = Object.fromEntries(WHO.map((who) => [who, '401'])) as Outcomes;
/** Browsers open it and send no key; a wrong one is refused, with the body of RFC 6749. */
const authorizing = outcomes({ free_plan: '403', revoked_key: '401', expired_key: '401' });
/** Keys of any kind are refused: only access tokens are taken. */
const onlyTokens = outcomes({ nobody: 'authentication_required', other_workspace: 'token_required', wrong_scope: 'token_required', member: 'token_required', reviewer: 'token_required', admin: 'token_required' });

/** Reviewers of the instance whose key has the scope. */
const reviewing = { ...scoped, wrong_scope: 'permission_required', member: 'permission_required', other_workspace: 'permission_required' };

const anyone: Case[] = [{ outcomes: everybody }];
const visitor: Case[] = [{ outcomes: open }];

/** A private actor is there for its workspace only, and for keys with a scope that reads the directory. */
const actorRead: Case[] = [
  { params: { id: '$public' }, outcomes: open },
  { params: { id: '$private' }, outcomes: { ...open, nobody: 'unknown_actor', other_workspace: 'unknown_actor', wrong_scope: 'unknown_actor' } },
];
/** Pages show public actors only, also to the workspace of a private one. */
const pageOfActor: Case[] = [
  { params: { id: '$public' }, outcomes: open },
  { params: { id: '$private' }, outcomes: { ...open, nobody: 'not_found', other_workspace: 'not_found', wrong_scope: 'not_found', member: 'not_found', reviewer: 'not_found', admin: 'not_found' } },
];
/** These answer everybody alike, with what is public. */
const publicPartOfActor: Case[] = [{ params: { id: '$public' }, outcomes: open }];

/** A public actor is changed by reviewers, a private one by its workspace. */
const actorChange = (payload?: unknown): Case[] => [
  { params: { id: '$public' }, payload, outcomes: { ...scoped, member: 'permission_required', other_workspace: 'permission_required' } },
  { params: { id: '$private' }, payload, outcomes: { ...scoped, other_workspace: 'unknown_actor' } },
];

const ofWorkspace = { params: { id: '$workspace' } };
/** What members may, nobody else knows of. */
const membersOnly: Outcomes = { ...scoped, other_workspace: 'unknown_workspace' };
/** Roles on the instance do not count: `reviewer` and `admin` have the role of that name in the workspace, too. */
const managersOnly: Outcomes = { ...membersOnly, member: 'workspace_forbidden', reviewer: 'workspace_forbidden' };

/** Reviewers, administrators and owners of the workspace. */
const reviewersOnly: Outcomes = { ...membersOnly, member: 'workspace_forbidden' };
const exported = (kind: string) => ({ format: 'civic workspace export', version: 1, kind, records: [{ text: 'Ours' }] });

/** Members find a record of their workspace; a record of another workspace does not exist for them. */
const ofRecord = (params: Record<string, string>, unknown: string, outcomes: Outcomes = membersOnly): Case[] => [
  { params: { id: '$workspace', ...params }, outcomes },
  { params: { id: '$workspace', ...Object.fromEntries(Object.entries(params).map(([name, value]) => [name, value.replace('$', '$foreign_')])) }, outcomes: { ...outcomes, member: unknown, reviewer: unknown, admin: unknown, ...forbidden(outcomes) } },
];
const forbidden = (outcomes: Outcomes): Partial<Outcomes> => Object.fromEntries(Object.entries(outcomes).filter(([, code]) => code === 'workspace_forbidden'));
const withPayload = (cases: Case[], payload: unknown): Case[] => cases.map((one) => ({ ...one, payload }));

/** The routes of one kind of records: `lists` has `$list` and `list_id`. */
function ofRecords(name: string, { noun, unknown, created, changed, changing = membersOnly }: { noun: string; unknown: string; created: object; changed: object; changing?: Outcomes }): Record<string, Case[]> {
  const path = `/api/workspaces/{id}/${name}`;
  const one = (outcomes?: Outcomes) => ofRecord({ [`${noun}_id`]: `$${noun}` }, unknown, outcomes);
  return {
    [`GET ${path}`]: [{ ...ofWorkspace, outcomes: membersOnly }],
    [`POST ${path}`]: [{ ...ofWorkspace, payload: created, outcomes: changing }],
    [`GET ${path}/{${noun}_id}`]: one(),
    [`PATCH ${path}/{${noun}_id}`]: withPayload(one(changing), changed),
    [`DELETE ${path}/{${noun}_id}`]: one(changing),
  };
}

/** A session of the Firehose is there for its workspace only. */
const ofSession: Case = { params: { id: '$session' }, outcomes: { ...scoped, other_workspace: 'unknown_session' } };

/** A watched source is there for its workspace only. */
/** Feeds have no key: those of a workspace do not exist, also for its members. */
const feedOfSource: Case[] = [
  { params: { id: '$town_calendar' }, outcomes: open },
  { params: { id: '$calendar' }, outcomes: { ...open, nobody: 'unknown_watched_source', other_workspace: 'unknown_watched_source', wrong_scope: 'unknown_watched_source', member: 'unknown_watched_source', reviewer: 'unknown_watched_source', admin: 'unknown_watched_source' } },
];
/** Members read the candidates of their workspace, its reviewers decide. */
const ofRun: Case = { params: { id: '$run', cid: '$candidate' }, outcomes: { ...scoped, other_workspace: 'unknown_run' } };
const deciding: Case = { ...ofRun, outcomes: { ...ofRun.outcomes, member: 'workspace_forbidden' } };
const ofSource: Case = { params: { id: '$calendar' }, outcomes: { ...scoped, other_workspace: 'unknown_watched_source' } };

const claim = { sources: [{ local_id: 's', url: 'https://example.org/more' }], add: [{ property: 'description', value: 'More', source_local_id: 's' }] };

/** Every route of the kit. One that is not here fails the build: decide who may, and write it down. */
export const table: Record<string, Case[]> = {
  // core
  '* /{any*}': visitor,
  'OPTIONS /{any*}': anyone,
  'GET /': visitor,
  'GET /assets/{file*}': visitor,
  'GET /docs': visitor,
  'GET /docs/{group}': visitor,
  'GET /docs/try/{operation}': visitor,
  'GET /favicon.ico': visitor,
  'GET /live': visitor,
  'GET /robots.txt': visitor,
  'GET /sitemap.xml': visitor,
  'GET /sitemap/{name}': [{ params: { name: 'pages.xml' }, outcomes: open }],
  'GET /openapi.json': visitor,
  'GET /asyncapi.json': visitor,
  'GET /problems': visitor,
  'GET /problems/{code}': visitor,
  'GET /metrics': visitor,
  'GET /health': anyone,
  'GET /health/ready': anyone,

  // mcp
  'POST /mcp': [{ payload: { jsonrpc: '2.0', id: 1, method: 'ping' }, outcomes: onlyTokens }],

  // directory
  'GET /api/domains': visitor,
  'GET /api/domains/{slug}': visitor,
  'GET /api/issue-areas': visitor,
  'GET /api/issue-areas/{slug}': visitor,
  'GET /api/issue-areas/{slug}/feed.atom': visitor,
  'GET /api/issue-areas/{slug}/feed.json': visitor,
  'GET /api/issue-areas/{slug}/meetings.ics': visitor,
  'GET /api/entities/feed.atom': visitor,
  'GET /api/entities/feed.json': visitor,
  'GET /api/places': visitor,
  'GET /api/places/{place_key}': visitor,
  'GET /api/places/{place_key}/coverage': visitor,
  'GET /api/places/{place_key}/entities': visitor,
  'GET /api/places/{place_key}/sources': visitor,
  'GET /api/places/{place_key}/signals': visitor,
  'GET /api/signals/feed.atom': visitor,
  'GET /api/signals/feed.json': visitor,
  'GET /api/places/{place_key}/feed.atom': visitor,
  'GET /api/places/{place_key}/feed.json': visitor,
  'GET /api/places/{place_key}/meetings.ics': visitor,
  'GET /api/entities': [{ outcomes: open }, { query: 'visibility=workspace', outcomes: { ...open, nobody: 'authentication_required', wrong_scope: 'insufficient_scope' } }],
  'GET /api/entities/by-slug/{slug}': visitor,
  'GET /api/entities/{id}': actorRead,
  'GET /api/entities/{id}/claims': actorRead,
  'GET /api/entities/{id}/sources': actorRead,
  'GET /api/entities/{id}/history': actorRead,
  'GET /api/entities/{id}/related': publicPartOfActor,
  'GET /api/entities/{id}/duplicates': publicPartOfActor,
  'GET /api/entities/{id}/judgements': [{ params: { id: '$public' }, outcomes: scoped }, { params: { id: '$private' }, outcomes: { ...scoped, other_workspace: 'unknown_actor' } }],
  'GET /api/exports/entities': [{ outcomes: open }, { query: 'visibility=workspace', outcomes: { ...open, nobody: 'authentication_required', wrong_scope: 'insufficient_scope' } }],
  'GET /api/sources/{id}': visitor,
  'GET /api/imports/{id}': [{ outcomes: scoped }],
  'GET /api/imports/{id}/rejects': [{ outcomes: scoped }],
  'POST /api/imports': [{ outcomes: scoped }],
  'POST /api/entity-flags': [{ payload: { entity_id: '$public', reason: 'Moved', flag_type: 'stale' }, outcomes: open }],
  'POST /api/source-flags': visitor,
  'GET /api/flags/receipts/{receipt}': visitor,
  'GET /api/flags/receipts/{receipt}/messages': visitor,
  'POST /api/flags/receipts/{receipt}/messages': visitor,
  'POST /api/flags/receipts/{receipt}/reopen': visitor,
  'GET /report': visitor,
  'POST /report': visitor,
  'GET /report/receipts': visitor,
  'GET /report/receipts/{receipt}': visitor,
  'POST /report/receipts/{receipt}/forget': visitor,
  'POST /report/receipts/{receipt}/reopen': visitor,
  'POST /report/receipts/{receipt}/reply': visitor,
  'GET /api/flags': [{ outcomes: reviewing }],
  'POST /api/flags/{id}/messages': [{ params: { id: 'x' }, payload: { text: 'Which one?' }, outcomes: reviewing }],
  'PATCH /api/flags/{id}': [{ params: { id: 'x' }, payload: { status: 'accepted' }, outcomes: reviewing }],
  'GET /api/rechecks': [{ outcomes: reviewing }],
  'POST /api/rechecks/{source_id}': [{ params: { source_id: 'x' }, payload: { outcome: 'broken' }, outcomes: reviewing }],
  'POST /api/entities': [{ payload: {}, outcomes: scoped }],
  'PATCH /api/entities/{id}': actorChange(claim),
  'DELETE /api/entities/{id}': actorChange(),
  'POST /api/entities/{id}/merge': [
    { params: { id: '$public' }, payload: { into: '$other', reason: 'The same' }, outcomes: { ...scoped, member: 'permission_required', other_workspace: 'permission_required' } },
    // Into a public one: that changes it.
    { params: { id: '$private' }, payload: { into: '$other', reason: 'The same' }, outcomes: { ...scoped, member: 'permission_required', other_workspace: 'unknown_actor' } },
  ],
  'POST /api/entities/{id}/split': actorChange({}),
  'POST /api/entities/{id}/publish': [{ params: { id: '$private' }, payload: {}, outcomes: { ...scoped, other_workspace: 'unknown_actor', member: 'permission_required' } }],
  'POST /api/judgements': [{ payload: { left_id: '$public', right_id: '$other', verdict: 'different' }, outcomes: { ...scoped, member: 'permission_required', other_workspace: 'permission_required' } }],
  'DELETE /api/judgements/{id}': [{ outcomes: scoped }],
  'GET /reconcile': visitor,
  'POST /reconcile': visitor,
  'GET /reconcile/preview': visitor,
  'GET /reconcile/properties': visitor,
  'GET /reconcile/flyout/entity': visitor,
  'GET /reconcile/flyout/property': visitor,
  'GET /reconcile/flyout/type': visitor,
  'GET /reconcile/suggest/entity': visitor,
  'GET /reconcile/suggest/property': visitor,
  'GET /reconcile/suggest/type': visitor,

  // firehose
  'GET /api/firehose': [
    { outcomes: scoped },
    { query: 'visibility=public', outcomes: scoped },
    { query: 'visibility=partner', outcomes: { ...scoped, other_workspace: 'visibility_forbidden', member: 'visibility_forbidden', reviewer: 'visibility_forbidden', admin: 'visibility_forbidden' } },
    { query: 'visibility=reviewer', outcomes: { ...scoped, other_workspace: 'visibility_forbidden', member: 'visibility_forbidden' } },
  ],
  'GET /api/firehose/sessions': [{ outcomes: scoped }],
  'POST /api/firehose/sessions': [{ payload: {}, outcomes: scoped }],
  'GET /api/firehose/sessions/{id}': [ofSession],
  'DELETE /api/firehose/sessions/{id}': [ofSession],
  'GET /api/firehose/sessions/{id}/snapshot': [ofSession],
  // Whoever is let in is told that this is no event id.
  'GET /api/firehose/sessions/{id}/events': [{ ...ofSession, query: 'last_event_id=none' }],
  // And here, that it is no WebSocket.
  'GET /api/firehose/sessions/{id}/socket': [{ outcomes: scoped }],
  'POST /api/firehose/sessions/{id}/tickets': [ofSession],

  // accounts
  'GET /api/plans': visitor,
  'GET /api/workspaces': [{ outcomes: scoped }],
  'POST /api/workspaces': [{ payload: { name: 'Another' }, outcomes: scoped }],
  'POST /api/workspaces/join': [{ payload: { token: 'none' }, outcomes: scoped }],
  'GET /api/invitations': [{ outcomes: scoped }],
  // For whom an invitation is not meant, it does not exist.
  'POST /api/invitations/{id}/accept': [{ outcomes: scoped }],
  'POST /api/invitations/{id}/decline': [{ outcomes: scoped }],
  'GET /api/workspaces/{id}': [{ ...ofWorkspace, outcomes: membersOnly }],
  'PATCH /api/workspaces/{id}': [{ ...ofWorkspace, payload: { name: 'Ours' }, outcomes: managersOnly }],
  // Even an administrator of the workspace is not its owner.
  'DELETE /api/workspaces/{id}': [{ ...ofWorkspace, query: 'name=Ours', outcomes: { ...managersOnly, admin: 'workspace_forbidden' } }],
  'GET /api/workspaces/{id}/audit': [{ ...ofWorkspace, outcomes: managersOnly }],
  'GET /api/workspaces/{id}/invitations': [{ ...ofWorkspace, outcomes: managersOnly }],
  'POST /api/workspaces/{id}/invitations': [{ ...ofWorkspace, payload: {}, outcomes: managersOnly }],
  'DELETE /api/workspaces/{id}/invitations/{invitation_id}': [{ ...ofWorkspace, outcomes: managersOnly }],
  'GET /api/workspaces/{id}/members': [{ ...ofWorkspace, outcomes: membersOnly }],
  'POST /api/workspaces/{id}/members': [{ ...ofWorkspace, payload: { account_id: '$other_account' }, outcomes: managersOnly }],
  'GET /api/workspaces/{id}/members/{account_id}': [{ params: { id: '$workspace', account_id: '$guest' }, outcomes: membersOnly }],
  'PATCH /api/workspaces/{id}/members/{account_id}': [{ params: { id: '$workspace', account_id: '$guest' }, payload: { role: 'member' }, outcomes: managersOnly }],
  'DELETE /api/workspaces/{id}/members/{account_id}': [{ params: { id: '$workspace', account_id: '$guest' }, outcomes: managersOnly }],

  // discovery
  'GET /api/discovery-runs': [{ outcomes: scoped }, { query: 'visibility=public', outcomes: { ...reviewing, wrong_scope: 'insufficient_scope' } }],
  'POST /api/discovery-runs': [{ payload: { location: 'Kansas City, MO', issue_areas: ['housing_affordability'] }, outcomes: scoped }, { query: 'visibility=public', payload: { location: 'Kansas City, MO', issue_areas: ['housing_affordability'] }, outcomes: { ...reviewing, wrong_scope: 'insufficient_scope' } }],
  'GET /api/discovery-runs/proposals': [{ outcomes: reviewing }],
  'POST /api/discovery-runs/syncs': [{
    payload: { tool: { name: 'scout', version: '1' }, local_run_id: 'r', location: '', issue_areas: [], sources: [{ local_id: 's', url: 'https://example.org/found' }], entries: [{ local_id: 'e', type: 'organization', name: 'Found', claims: [{ property: 'name', value: 'Found', source_local_id: 's' }] }] },
    outcomes: { ...scoped, member: 'workspace_forbidden' },
  }],
  'POST /api/discovery-runs/{id}/cancel': [{ ...ofRun, payload: {} }],
  'GET /api/discovery-runs/{id}/sources': [ofRun],
  'GET /api/discovery-runs/{id}': [ofRun],
  'GET /api/discovery-runs/{id}/events': [ofRun],
  'GET /api/discovery-runs/{id}/candidates': [ofRun],
  'GET /api/discovery-runs/{id}/candidates/{cid}': [ofRun],
  'PATCH /api/discovery-runs/{id}/candidates/{cid}': [{ ...deciding, payload: { name: 'Another name' } }],
  'POST /api/discovery-runs/{id}/candidates/{cid}/decision': [{ ...deciding, payload: { decision: 'reject' } }],
  'DELETE /api/discovery-runs/{id}/candidates/{cid}/decision': [deciding],
  'GET /console/discovery': visitor,
  'POST /console/discovery': visitor,
  'GET /console/discovery/{run}': visitor,
  'POST /console/discovery/{run}/cancel': visitor,
  'GET /console/discovery/{run}/events': visitor,
  'GET /console/discovery/{run}/sources': visitor,
  'POST /console/discovery/{run}/candidates': visitor,
  'GET /console/discovery/{run}/candidates/{candidate}': visitor,
  'POST /console/discovery/{run}/candidates/{candidate}': visitor,
  'GET /console/discovery/{run}/candidates/{candidate}/archived/{source}': visitor,
  'GET /workspaces/{id}/discovery': visitor,
  'POST /workspaces/{id}/discovery': visitor,
  'GET /workspaces/{id}/discovery/{run}': visitor,
  'POST /workspaces/{id}/discovery/{run}/cancel': visitor,
  'GET /workspaces/{id}/discovery/{run}/events': visitor,
  'GET /workspaces/{id}/discovery/{run}/sources': visitor,
  'POST /workspaces/{id}/discovery/{run}/candidates': visitor,
  'GET /workspaces/{id}/discovery/{run}/candidates/{candidate}': visitor,
  'POST /workspaces/{id}/discovery/{run}/candidates/{candidate}': visitor,
  'GET /workspaces/{id}/discovery/{run}/candidates/{candidate}/archived/{source}': visitor,

  // ingest
  'GET /api/watched-sources': [{ outcomes: scoped }, { query: 'visibility=public', outcomes: { ...reviewing, wrong_scope: 'insufficient_scope' } }],
  'POST /api/watched-sources': [{ payload: { url: 'https://city.example/calendar', test: false }, outcomes: scoped }, { payload: { url: 'https://city.example/public', test: false, visibility: 'public' }, outcomes: { ...reviewing, wrong_scope: 'insufficient_scope' } }],
  'POST /api/watched-sources/import': [{ payload: { sources: [{ url: 'https://city.example/listed' }] }, outcomes: scoped }, { payload: { sources: [{ url: 'https://city.example/listed' }] }, query: 'visibility=public', outcomes: { ...reviewing, wrong_scope: 'insufficient_scope' } }],
  'GET /api/watched-sources.opml': [{ outcomes: scoped }, { query: 'visibility=public', outcomes: { ...reviewing, wrong_scope: 'insufficient_scope' } }],
  'GET /api/watched-sources/{id}': [ofSource],
  'PATCH /api/watched-sources/{id}': [{ ...ofSource, payload: { name: 'Ours' } }],
  'DELETE /api/watched-sources/{id}': [ofSource],
  'POST /api/watched-sources/{id}/test': [{ ...ofSource, payload: {} }],
  'POST /api/watched-sources/{id}/pause': [{ ...ofSource, payload: {} }],
  'GET /api/watched-sources/{id}/history': [ofSource],
  'GET /api/watched-sources/{id}/feed.atom': feedOfSource,
  'GET /api/watched-sources/{id}/feed.json': feedOfSource,
  'GET /console/sources': visitor,
  'POST /console/sources': visitor,
  'GET /console/sources/import': visitor,
  'POST /console/sources/import': visitor,
  'GET /console/sources/sources.opml': visitor,
  'GET /console/sources/{source_id}': visitor,
  'POST /console/sources/{source_id}': visitor,
  'GET /workspaces/{id}/sources': visitor,
  'POST /workspaces/{id}/sources': visitor,
  'GET /workspaces/{id}/sources/import': visitor,
  'POST /workspaces/{id}/sources/import': visitor,
  'GET /workspaces/{id}/sources/sources.opml': visitor,
  'GET /workspaces/{id}/sources/{source_id}': visitor,
  'POST /workspaces/{id}/sources/{source_id}': visitor,
  'GET /console/links': visitor,
  'GET /console/links/{source_id}': visitor,

  // workspaces
  ...ofRecords('lists', { noun: 'list', unknown: 'unknown_list', created: { name: 'Ours' }, changed: { name: 'Theirs' } }),
  'GET /api/workspaces/{id}/lists/{list_id}/items': ofRecord({ list_id: '$list' }, 'unknown_list'),
  'POST /api/workspaces/{id}/lists/{list_id}/items': withPayload(ofRecord({ list_id: '$list' }, 'unknown_list'), { entity_id: '$public' }),
  'GET /api/workspaces/{id}/lists/{list_id}/items/{entity_id}': ofRecord({ list_id: '$list' }, 'unknown_list'),
  'PATCH /api/workspaces/{id}/lists/{list_id}/items/{entity_id}': withPayload(ofRecord({ list_id: '$list' }, 'unknown_list'), { note: 'Seen' }),
  'DELETE /api/workspaces/{id}/lists/{list_id}/items/{entity_id}': ofRecord({ list_id: '$list' }, 'unknown_list'),
  'GET /api/workspaces/{id}/lists/{list_id}/export': ofRecord({ list_id: '$list' }, 'unknown_list'),
  'POST /api/workspaces/{id}/lists/import': [{ ...ofWorkspace, payload: exported('lists'), outcomes: membersOnly }],
  ...ofRecords('notes', { noun: 'note', unknown: 'unknown_workspace_note', created: { text: 'Ours' }, changed: { text: 'Theirs' } }),
  ...ofRecords('coverage-targets', { noun: 'coverage_target', unknown: 'unknown_coverage_target', created: { place: 'kansas-city,missouri', issue_areas: ['housing_affordability'] }, changed: { wanted: 2 } }),
  ...ofRecords('reviews', { noun: 'review', unknown: 'unknown_review', created: { target: { type: 'entity', id: '$public' } }, changed: { status: 'confirmed' }, changing: reviewersOnly }),
  ...Object.fromEntries(['notes', 'coverage-targets', 'reviews'].flatMap((name) => [
    [`GET /api/workspaces/{id}/${name}/export`, [{ ...ofWorkspace, outcomes: membersOnly }]],
    [`POST /api/workspaces/{id}/${name}/import`, [{ ...ofWorkspace, payload: exported(name), outcomes: name === 'reviews' ? reviewersOnly : membersOnly }]],
  ])),
  'GET /api/workspaces/{id}/export': [{ ...ofWorkspace, outcomes: membersOnly }],
  'GET /api/workspaces/{id}/usage': [{ ...ofWorkspace, outcomes: membersOnly }],
  'GET /api/workspaces/{id}/usage/export': [{ ...ofWorkspace, outcomes: membersOnly }],
  ...ofRecords('briefs', { noun: 'brief', unknown: 'unknown_brief', created: { title: 'Ours' }, changed: { title: 'Theirs' } }),
  'GET /api/workspaces/{id}/briefs/{brief_id}/export': ofRecord({ brief_id: '$brief' }, 'unknown_brief'),
  ...ofRecords('watches', { noun: 'watch', unknown: 'unknown_watch', created: { target: { type: 'place', id: 'liberty,missouri' } }, changed: { delivery: 'muted' } }),
  'GET /api/workspaces/{id}/digest': [{ ...ofWorkspace, outcomes: membersOnly }],
  // The secret in the address is the credential, so a key opens no feed.
  'GET /api/workspaces/{id}/feed.atom': [{ ...ofWorkspace, query: 'token=none', outcomes: { ...open, nobody: 'unknown_feed', other_workspace: 'unknown_feed', wrong_scope: 'unknown_feed', member: 'unknown_feed', reviewer: 'unknown_feed', admin: 'unknown_feed' } }],
  'GET /workspaces': visitor,
  'GET /workspaces/save': visitor,
  'GET /workspaces/notes': visitor,
  'GET /workspaces/reviews': visitor,
  'GET /workspaces/{id}': visitor,
  'GET /workspaces/{id}/lists': visitor,
  'POST /workspaces/{id}/lists': visitor,
  'GET /workspaces/{id}/lists/{list}': visitor,
  'POST /workspaces/{id}/lists/{list}': visitor,
  'POST /workspaces/{id}/lists/{list}/delete': visitor,
  'GET /workspaces/{id}/lists/{list}/export': visitor,
  'POST /workspaces/{id}/lists/{list}/items/{entry}': visitor,
  'POST /workspaces/{id}/lists/{list}/items/{entry}/remove': visitor,
  'GET /workspaces/{id}/save': visitor,
  'POST /workspaces/{id}/save': visitor,
  'GET /workspaces/{id}/notes': visitor,
  'POST /workspaces/{id}/notes': visitor,
  'POST /workspaces/{id}/notes/{note}': visitor,
  'POST /workspaces/{id}/notes/{note}/delete': visitor,
  'GET /workspaces/{id}/targets': visitor,
  'POST /workspaces/{id}/targets': visitor,
  'POST /workspaces/{id}/targets/{target}/delete': visitor,
  'GET /workspaces/{id}/export': visitor,
  'GET /workspaces/{id}/reviews': visitor,
  'POST /workspaces/{id}/reviews': visitor,
  'POST /workspaces/{id}/reviews/{review}': visitor,
  'POST /workspaces/{id}/reviews/{review}/delete': visitor,
  'GET /workspaces/{id}/usage': visitor,
  'GET /workspaces/{id}/briefs': visitor,
  'POST /workspaces/{id}/briefs': visitor,
  'GET /workspaces/{id}/briefs/new': visitor,
  'GET /workspaces/{id}/briefs/{brief_id}': visitor,
  'POST /workspaces/{id}/briefs/{brief_id}/delete': visitor,
  'GET /workspaces/{id}/briefs/{brief_id}/edit': visitor,
  'POST /workspaces/{id}/briefs/{brief_id}/edit': visitor,
  'GET /workspaces/{id}/briefs/{brief_id}/file.{format}': visitor,
  'GET /workspaces/{id}/briefs/{brief_id}/print': visitor,
  'GET /workspaces/{id}/digest': visitor,
  'GET /workspaces/{id}/watches': visitor,
  'POST /workspaces/{id}/watches': visitor,
  'POST /workspaces/{id}/watches/feed': visitor,
  'POST /workspaces/{id}/watches/feed/revoke': visitor,
  'POST /workspaces/{id}/watches/settings': visitor,
  'POST /workspaces/{id}/watches/{watch_id}/delete': visitor,
  'POST /workspaces/{id}/watches/{watch_id}/delivery': visitor,
  'GET /workspaces/watch': visitor,
  'GET /workspaces/unsubscribe': visitor,
  'POST /workspaces/unsubscribe': visitor,

  // firehose
  'GET /signals': visitor,
  'GET /search': visitor,
  'GET /suggest': visitor,
  'GET /issues': visitor,
  'GET /issues/{slug}': [{ params: { slug: 'housing_affordability' }, outcomes: open }],
  'GET /domains/{slug}': [{ params: { slug: 'economic-security' }, outcomes: open }],
  'GET /about': visitor,
  'GET /actors/{id}': pageOfActor,
  'GET /actors/{id}/event.ics': visitor,
  'GET /actors/{id}/history': pageOfActor,
  'GET /sources/{id}': visitor,
  'GET /places': visitor,
  'GET /places/{place_key}': [{ params: { place_key: 'kansas-city,missouri' }, outcomes: open }],
  'GET /places/{place_key}/entries': [{ params: { place_key: 'kansas-city,missouri' }, outcomes: open }],
  'GET /places/{place_key}/sources': [{ params: { place_key: 'kansas-city,missouri' }, outcomes: open }],
  'GET /places/{place_key}/sheet': [{ params: { place_key: 'kansas-city,missouri' }, outcomes: open }],
  'GET /map': visitor,
  'GET /map/{state_key}': [{ params: { state_key: 'missouri' }, outcomes: open }],

  // Pages know their reader by a cookie, which no key stands in for: everybody else is sent to sign in. plugins/accounts/test and plugins/console/test have the rest.
  'GET /console': visitor,
  'GET /console/audit': visitor,
  'GET /console/jobs': visitor,
  'POST /console/jobs/{id}/retry': visitor,
  'POST /console/jobs/{id}/discard': visitor,
  'POST /console/events/{plugin}/retry': visitor,
  'GET /console/backups': visitor,
  'POST /console/backups': visitor,
  'POST /console/backups/{name}/download': visitor,
  'GET /console/backups/{name}/file': visitor,
  'GET /console/reports': visitor,
  'POST /console/reports/confirm': visitor,
  'POST /console/reports/decide': visitor,
  'POST /console/reports/undo': visitor,
  'GET /console/reports/{id}': visitor,
  'POST /console/reports/{id}': visitor,
  'POST /console/reports/{id}/ask': visitor,
  'GET /console/unlisted': visitor,
  'POST /console/unlisted': visitor,
  'POST /console/unlisted/{id}/delete-matches': visitor,
  'POST /console/unlisted/{id}/remove': visitor,
  'GET /console/rechecks': visitor,
  'POST /console/rechecks/{source_id}': visitor,
  'GET /console/accounts': visitor,
  'POST /console/accounts': visitor,
  'GET /console/accounts/{id}': visitor,
  'POST /console/accounts/{id}/plan': visitor,
  'POST /console/accounts/{id}/role': visitor,
  'POST /console/accounts/{id}/sign-in-link': visitor,
  'POST /console/accounts/{id}/{what}': visitor,
  'GET /account': visitor,
  'POST /account': visitor,
  'POST /account/confirm/options': visitor,
  'POST /account/email': visitor,
  'POST /account/email/cancel': visitor,
  'GET /account/email/confirm': visitor,
  'POST /account/email/confirm': visitor,
  'POST /account/notices/dismiss': visitor,
  'POST /console/accounts/{id}/confirm-email': visitor,
  'GET /account/keys': visitor,
  'POST /account/keys': visitor,
  'GET /account/keys/{id}/revoke': visitor,
  'POST /account/keys/{id}/revoke': visitor,
  'GET /account/passkeys': visitor,
  'POST /account/passkeys': visitor,
  'POST /account/passkeys/options': visitor,
  'GET /account/passkeys/{id}/remove': visitor,
  'POST /account/passkeys/{id}/remove': visitor,
  'POST /account/passkeys/{id}/rename': visitor,
  'GET /account/plan': visitor,
  'GET /account/recovery-codes': visitor,
  'POST /account/recovery-codes': visitor,
  'GET /account/sessions': visitor,
  'POST /account/sessions/end-all': visitor,
  'POST /account/sessions/{id}/end': visitor,
  'GET /account/workspaces': visitor,
  'POST /account/workspaces': visitor,
  'POST /account/workspaces/choose': visitor,
  'GET /account/workspaces/{id}': visitor,
  'POST /account/workspaces/{id}': visitor,
  'POST /account/workspaces/{id}/delete': visitor,
  'POST /account/workspaces/{id}/invitations': visitor,
  'POST /account/workspaces/{id}/invitations/{invitation}/withdraw': visitor,
  'POST /account/workspaces/{id}/members': visitor,
  'POST /account/invitations/{id}/{what}': visitor,
  'POST /account/workspaces/{id}/members/{account}/remove': visitor,
  'POST /account/workspaces/{id}/members/{account}/role': visitor,
  'GET /invitations': visitor,
  'POST /invitations': visitor,
  'GET /sign-in': visitor,
  'GET /sign-in/code': visitor,
  'POST /sign-in/code': visitor,
  'GET /sign-in/link': visitor,
  'POST /sign-in/link': visitor,
  'POST /sign-in/passkey': visitor,
  'POST /sign-in/passkey/options': visitor,
  'POST /sign-out': visitor,

  // oauth: its endpoints read credentials of their own, so that no key matters to them. plugins/oauth/test has the rest.
  'GET /.well-known/oauth-authorization-server': anyone,
  'GET /.well-known/oauth-authorization-server/api': anyone,
  'GET /.well-known/openid-configuration': anyone,
  'GET /.well-known/openid-configuration/api': anyone,
  'GET /.well-known/oauth-protected-resource/api': anyone,
  'GET /.well-known/oauth-authorization-server/mcp': anyone,
  'GET /.well-known/openid-configuration/mcp': anyone,
  'GET /.well-known/oauth-protected-resource/mcp': anyone,
  'GET /.well-known/oauth-protected-resource': anyone,
  'GET /oauth/jwks': anyone,
  'GET /oauth/authorize': [{ outcomes: authorizing }],
  'GET /oauth/authorize/{uid}': [{ outcomes: authorizing }],
  'POST /oauth/token': anyone,
  'POST /oauth/revoke': anyone,
  'POST /oauth/introspect': anyone,
  'POST /oauth/device': anyone,
  'POST /oauth/register': anyone,
  'GET /oauth/register/{client_id}': [{ outcomes: registered }],
  'PUT /oauth/register/{client_id}': anyone,
  'DELETE /oauth/register/{client_id}': anyone,
  'GET /connect/{uid}': visitor,
  'POST /connect/{uid}': visitor,
  'POST /connect/{uid}/deny': visitor,
  'GET /device': visitor,
  'POST /device': visitor,
  'POST /device/deny': visitor,
  'GET /account/apps': visitor,
  'GET /account/apps/{id}/disconnect': visitor,
  'POST /account/apps/{id}/disconnect': visitor,
};

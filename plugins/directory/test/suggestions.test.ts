import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import { actorPayload, directoryKit, type DirectoryKit } from './kit.ts';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KC = 'kansas-city,missouri';

describe('Filters with values that do not exist', () => {
  let kit: DirectoryKit;
  before(async () => {
    kit = await directoryKit();
    await kit.send('POST', '/api/entities', actorPayload({ name: 'Westside Tenants Union', place: KC, issue_area: 'housing_affordability' }), 'reviewer');
  });
  after(() => kit.close());

  it('match nothing and are listed with what they may mean', async () => {
    const cases: [path: string, parameter: string, value: string, meant: string][] = [
      ['/api/entities?issue_area=housing', 'issue_area', 'housing', 'housing_affordability'],
      ['/api/entities?issue_area=housing_afordability', 'issue_area', 'housing_afordability', 'housing_affordability'],
      [`/api/places/${KC}/entities?issue_area=housing`, 'issue_area', 'housing', 'housing_affordability'],
      [`/api/places/${KC}/entities?issue_area=housing&query=westside`, 'issue_area', 'housing', 'housing_affordability'],
      ['/api/entities?place=Kansas%20City,%20MO', 'place', 'Kansas City, MO', KC],
      ['/api/entities?place=kansas-city,mo', 'place', 'kansas-city,mo', KC],
    ];
    for (const [path, parameter, value, meant] of cases) {
      const { status, body } = await kit.get(path);
      expect([path, status, body.data, body.total, body.suggestions.length]).to.equal([path, 200, [], 0, 1]);
      expect(body.suggestions[0], path).to.include({ parameter, value });
      expect(body.suggestions[0].did_you_mean, path).to.include(meant);
    }
  });

  it('leave the others of the same filter as they are', async () => {
    const { body } = await kit.get(`/api/entities?place=${KC}&place=nowhere,missouri&issue_area=housing_affordability&issue_area=qqqqq`);
    expect([body.total, body.suggestions]).to.equal([1, [{ parameter: 'issue_area', value: 'qqqqq', did_you_mean: [] }, { parameter: 'place', value: 'nowhere,missouri', did_you_mean: body.suggestions[1].did_you_mean }]]);
    expect((await kit.get(`/api/entities?place=${KC}&issue_area=housing_affordability`)).body).to.not.include('suggestions');
    expect((await kit.get(`/api/places/${KC}/entities?issue_area=public_transit`)).body).to.not.include('suggestions');
  });

  it('get suggestions for the first three only', async () => {
    const many = Array.from({ length: 50 }, (_, index) => `place=springfeld${index},missouri`).join('&');
    expect((await kit.get(`/api/entities?${many}`)).body.suggestions).to.have.length(3);
  });
});

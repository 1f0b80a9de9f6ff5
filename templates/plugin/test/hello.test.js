// @ts-check
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testServer } from 'civic/testing';
import hello from '../index.js';

test('greets somebody and remembers it', async () => {
  const kit = await testServer({ plugins: [hello] });
  try {
    const created = await kit.request('POST', '/api/hello', { payload: { name: 'Ada' } });
    assert.equal(created.status, 201);
    assert.equal(created.body.text, 'Hello, Ada!');

    const list = await kit.request('GET', '/api/hello');
    assert.deepEqual(list.body.data.map((greeting) => greeting.text), ['Hello, Ada!']);
    assert.equal((await kit.tool('list_hello_greetings')).text, '- Hello, Ada!');
  } finally {
    await kit.close();
  }
});

test('uses the word of the config file', async () => {
  const kit = await testServer({ plugins: [hello], config: { plugins: { hello: { word: 'Welcome' } } } });
  try {
    const created = await kit.request('POST', '/api/hello', { payload: { name: 'Ada' } });
    assert.equal(created.body.text, 'Welcome, Ada!');
  } finally {
    await kit.close();
  }
});

test('refuses a greeting without a name and stores nothing', async () => {
  const kit = await testServer({ plugins: [hello] });
  try {
    const refused = await kit.request('POST', '/api/hello', { payload: { nam: 'Ada' } });
    assert.equal(refused.status, 400);
    assert.equal(refused.body.code, 'invalid_request');

    const list = await kit.request('GET', '/api/hello');
    assert.deepEqual(list.body.data, []);
  } finally {
    await kit.close();
  }
});

-- Database "railyard": freight wagons hired out by Halvorsen Wagon Leasing
-- PostgreSQL 15, schema release 31 of 2025-01-20, maintained by Dagny Moe
-- Lengths are in millimetres and masses in kilograms unless a comment says otherwise.

-- Firms that hire wagons.
CREATE TABLE customer (
  customer_id  serial PRIMARY KEY,
  firm         varchar(80) NOT NULL,
  vat_no       varchar(14) UNIQUE,
  contact      varchar(60),
  language     char(2) DEFAULT 'en',        -- language of invoices: en, no, de or pl
  credit_limit numeric(10,2) DEFAULT 25000, -- EUR; above it a new hire needs the manager's approval
  rating       char(1) DEFAULT 'B',         -- A pays early, B on time, C late, D only in advance
  since        date
);

-- One row per wagon. Scrapped wagons are kept for eight years, then deleted.
CREATE TABLE wagon (
  wagon_no     char(12) PRIMARY KEY,        -- twelve digits, the last one is the check digit
  kind         varchar(10) NOT NULL CHECK (kind IN ('flat','tank','hopper','covered')),
  built        smallint,
  length_mm    integer,
  tare_kg      integer,                     -- empty mass as last weighed, not as built
  payload_kg   integer,
  axles        smallint DEFAULT 4,
  brake        varchar(8) DEFAULT 'LL',     -- LL or K blocks; cast iron has been forbidden since 2024-12-15
  tracker_id   varchar(16),                 -- empty for tank wagons: explosion protection
  home_depot   integer REFERENCES depot,
  status       varchar(10) DEFAULT 'idle',  -- idle, hired, workshop, blocked or scrapped
  scrapped_on  date
);

-- Places where wagons stand or are repaired.
CREATE TABLE depot (
  depot_id     serial PRIMARY KEY,
  town         varchar(40) NOT NULL,
  tracks       smallint,
  track_m      integer,                     -- usable length of all tracks together, in metres
  workshop     boolean DEFAULT false,
  wash_plant   boolean DEFAULT false,       -- needed for hoppers after grain
  foreman      varchar(60)
);

INSERT INTO depot (town, tracks, track_m, workshop, wash_plant, foreman) VALUES
  ('Skarholt',  9, 4150, true,  true,  'Einar Tveit'),
  ('Lindmar',   4, 1720, false, true,  'Kasia Wrona'),
  ('Port Esker', 6, 2980, true,  false, 'Moses Adeyemi'),
  ('Graufeld',  3,  940, false, false, 'Ulrike Prem');

-- Hires. The first and the last day are both charged.
CREATE TABLE hire (
  hire_id      serial PRIMARY KEY,
  customer_id  integer NOT NULL REFERENCES customer,
  wagon_no     char(12) NOT NULL REFERENCES wagon,
  from_day     date NOT NULL,
  to_day       date,                        -- null while the wagon is out
  rate_day     numeric(7,2) NOT NULL,       -- EUR per day, fixed when the contract is signed
  km_free      integer DEFAULT 4000,        -- kilometres per month without extra charge
  cargo        varchar(40),
  returned_dirty boolean DEFAULT false      -- adds 380 EUR for cleaning to the last invoice
);

-- List prices per day, the starting point for talks.
CREATE TABLE price_list (
  kind         varchar(10),
  year         smallint,
  eur_day      numeric(6,2),
  PRIMARY KEY (kind, year)
);

INSERT INTO price_list VALUES
  ('flat',    2024, 21.50), ('flat',    2025, 22.80),
  ('tank',    2024, 38.00), ('tank',    2025, 41.40),
  ('hopper',  2024, 29.90), ('hopper',  2025, 30.60);

-- Inspections and repairs.
CREATE TABLE inspection (
  inspection_id serial PRIMARY KEY,
  wagon_no     char(12) REFERENCES wagon,
  grade        char(2) NOT NULL,            -- G1 visual, G2 brakes, G3 axles taken out
  done_on      date NOT NULL,
  valid_until  date,                        -- G1 six months, G2 two years, G3 six years
  inspector    varchar(60),
  passed       boolean,
  remark       text                         -- write in English, the authority reads it
);

-- Single wheelsets, because they are swapped between wagons.
CREATE TABLE wheelset (
  serial_no    varchar(20) PRIMARY KEY,
  wagon_no     char(12) REFERENCES wagon,   -- null: lies in the store at Skarholt
  diameter_mm  numeric(5,1) CHECK (diameter_mm >= 840), -- new 920; below 840 it is melted down
  last_ultrasound date,                     -- every 600,000 km or eight years
  km_total     integer DEFAULT 0            -- estimated from the tracker, 250 km a day if there is none
);

-- Positions from the trackers, one every 10 minutes while moving, otherwise twice a day.
CREATE TABLE position (
  tracker_id   varchar(16),
  at           timestamptz,
  lat          double precision,
  lon          double precision,
  shock_g      real,                        -- over 3.5 a damage report is opened by itself
  battery_pct  smallint
);

-- Wagons whose G2 runs out within 60 days; printed every Monday for the foremen.
CREATE VIEW due_soon AS
  SELECT wagon_no, max(valid_until) AS ends FROM inspection
  WHERE grade = 'G2' AND passed GROUP BY wagon_no
  HAVING max(valid_until) < current_date + 60;

-- Positions older than 18 months are deleted by job "sweep_positions" on the first of the month.
-- Role clerk may read everything and write hire and customer; role foreman may write inspection and wheelset only.
-- No index on position(lat, lon): the map reads the copy in the warehouse database.

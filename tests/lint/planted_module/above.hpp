#pragma once

int twice_the_answer();
